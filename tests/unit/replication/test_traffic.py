"""What topics took in and gave out, also when they are gone."""

from __future__ import annotations

from ottla.replication.traffic import Traffic


def test_the_total_keeps_what_deleted_topics_had() -> None:
    traffic = Traffic()
    traffic.of("orders").bytes_in += 5
    traffic.of("payments").bytes_in += 7
    traffic.topic_deleted("orders")
    traffic.topic_deleted("unheard of")
    assert list(traffic.by_topic) == ["payments"]
    assert (traffic.total().bytes_in, traffic.of("payments").bytes_in) == (12, 7)


def test_a_topic_of_the_same_name_begins_anew() -> None:
    traffic = Traffic()
    traffic.of("orders").fetches += 5
    traffic.topic_deleted("orders")
    traffic.of("orders").fetches += 1
    assert (traffic.of("orders").fetches, traffic.total().fetches) == (1, 6)
