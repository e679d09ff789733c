"""What is lost, by what a pipeline has read, what was known of its topics, and what they are."""

from __future__ import annotations

import json

import pytest

from ottla.pipelines.kafka import KnownTopic, Place
from ottla.pipelines.repair.losses import Cause, DataLoss, Loss, Sight, find_losses

A0, A1, A2 = ("a", 0), ("a", 1), ("a", 2)


def sight(
    starts: dict[Place, int], ends: dict[Place, int], *, id: str = "id-1", partitions: int = 2
) -> Sight:
    return Sight({"a": KnownTopic(id, partitions)}, starts, ends)


BEFORE = sight({A0: 0, A1: 0}, {A0: 100, A1: 100})


def lost(seen: Sight, *, kept: Sight = BEFORE, **next_offsets: int) -> list[Loss]:
    places = {("a", int(name[1:])): offset for name, offset in next_offsets.items()}
    return find_losses(places, kept=kept, seen=seen)


def test_nothing_is_lost_while_the_next_offset_is_there() -> None:
    assert lost(sight({A0: 40, A1: 60}, {A0: 140, A1: 60}), p0=40, p1=60) == []


def test_records_deleted_before_they_were_read_are_an_exact_range() -> None:
    found = lost(sight({A0: 70, A1: 0}, {A0: 140, A1: 100}), p0=40, p1=60)
    assert found == [Loss("a", 0, 40, 70, Cause.DELETED, 70)]
    assert found[0].count == 30


def test_a_topic_made_anew_is_noticed_however_full_it_is() -> None:
    seen = sight({A0: 0, A1: 0}, {A0: 900, A1: 0}, id="id-2")
    assert lost(seen, p0=40, p1=100) == [
        Loss("a", 0, 40, 100, Cause.RECREATED, 0),
        Loss("a", 1, 100, 100, Cause.RECREATED, 0),
    ]


def test_without_ids_a_topic_that_ends_too_early_was_made_anew() -> None:
    old = sight({A0: 0, A1: 0}, {A0: 100, A1: 100}, id="")
    seen = sight({A0: 0, A1: 0}, {A0: 30, A1: 60}, id="")
    assert lost(seen, kept=old, p0=40, p1=60) == [Loss("a", 0, 40, 100, Cause.RECREATED, 0)]


def test_with_the_same_id_it_was_cut_off_and_goes_on_at_its_end() -> None:
    seen = sight({A0: 0, A1: 0}, {A0: 30, A1: 60})
    assert lost(seen, p0=40, p1=60) == [Loss("a", 0, 40, 100, Cause.TRUNCATED, 30)]


def test_a_cluster_that_learns_ids_has_lost_nothing() -> None:
    old = sight({A0: 0}, {A0: 100}, id="")
    assert lost(sight({A0: 0}, {A0: 100}), kept=old, p0=40) == []


def test_partitions_and_topics_can_be_gone() -> None:
    seen = sight({A0: 0}, {A0: 100}, partitions=1)
    assert lost(seen, p0=40, p1=60) == [Loss("a", 1, 60, 100, Cause.NO_PARTITION, None)]
    assert [loss.cause for loss in lost(Sight(), p0=40, p1=60)] == [Cause.NO_TOPIC] * 2


def test_an_added_partition_is_read_from_its_first_record() -> None:
    grown = sight({A0: 0, A1: 0, A2: 0}, {A0: 100, A1: 100, A2: 9}, partitions=3)
    assert lost(grown, p0=40, p1=60) == []
    late = sight({A0: 0, A1: 0, A2: 4}, {A0: 100, A1: 100, A2: 9}, partitions=3)
    assert lost(late, p0=40, p1=60) == [Loss("a", 2, 0, 4, Cause.DELETED, 4)]


def test_the_first_look_of_all_knows_no_ids_to_compare() -> None:
    seen = sight({A0: 0, A1: 50}, {A0: 100, A1: 100})
    assert lost(seen, kept=Sight(), p0=40, p1=10) == [Loss("a", 1, 10, 50, Cause.DELETED, 50)]


def test_the_message_names_every_range_and_the_choices() -> None:
    losses = [
        Loss("a", 0, 1_040, 1_070, Cause.DELETED, 1_070, after_ms=0, before_ms=60_000),
        Loss("b", 1, 5, 5, Cause.RECREATED, 0),
    ]
    text = str(DataLoss(losses))
    assert "not read: at least 30 in 2 partitions." in text
    assert (
        "a:0: deleted before it was read: offsets 1,040 to 1,069 "
        "(30, after 1970-01-01T00:00:00.000Z, before 1970-01-01T00:01:00.000Z)" in text
    )
    assert "b:1: the topic was deleted and made anew: it had been read to offset 5," in text
    assert "not read: 30 in 1 partition." in str(DataLoss(losses[:1]))
    for choice in ("accept", "reset", "restore"):
        assert f"  {choice}: " in text


@pytest.mark.parametrize("cause", Cause)
def test_a_loss_survives_json(cause: Cause) -> None:
    loss = Loss("a", 0, 1, 2, cause, None, after_ms=3)
    assert Loss.from_json(json.loads(json.dumps(loss.to_json()))) == loss
