"""UpdateMetadata requests, of all versions, as changes of the cluster's image."""

from __future__ import annotations

import pytest

from ottla.metadata.delta import apply
from ottla.metadata.image import BrokerImage, ClusterImage, Endpoint, TopicImage
from ottla.protocol.apis.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from ottla.protocol.codec import decode, encode

EMPTY = ClusterImage("cluster")
ID = b"i" * 16


def partition(index: int = 0, *, leader: int = 1, topic: str = "") -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        topic_name=topic,
        partition_index=index,
        controller_epoch=1,
        leader=leader,
        leader_epoch=3,
        isr=[1],
        zk_version=0,
        replicas=[1, 2],
        offline_replicas=[2],
    )


def topic(
    name: str, *partitions: UpdateMetadataPartitionState, topic_id: bytes = ID
) -> UpdateMetadataTopicState:
    return UpdateMetadataTopicState(
        topic_name=name, topic_id=topic_id, partition_states=list(partitions)
    )


def broker(number: int) -> UpdateMetadataBroker:
    endpoint = UpdateMetadataEndpoint(
        port=9092, host="host", listener="INSIDE", security_protocol=1
    )
    return UpdateMetadataBroker(
        id=number, v0_host="host", v0_port=9092, endpoints=[endpoint], rack="a"
    )


def update(*topics: UpdateMetadataTopicState) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(
        controller_id=1, controller_epoch=1, topic_states=list(topics), live_brokers=[broker(1)]
    )


@pytest.mark.parametrize("version", range(9))
def test_every_version_says_the_same(version: int) -> None:
    request = update(topic("orders", partition()))
    if version < 5:
        request.topic_states = []
        request.ungrouped_partition_states = [partition(topic="orders")]
    sent = decode(UpdateMetadataRequest, encode(request, version), version)
    image, changed = apply(EMPTY, sent)
    assert changed == ("orders",)
    assert image.controller_id == 1
    [found] = image.topics["orders"].partitions
    assert (found.leader, found.leader_epoch, found.isr, found.replicas) == (1, 3, (1,), (1, 2))
    assert found.offline_replicas == ((2,) if version >= 4 else ())
    assert image.topic_names == ({ID: "orders"} if version >= 7 else {})
    [known] = image.brokers.values()
    listener = "PLAINTEXT" if version == 0 else "SSL" if version < 3 else "INSIDE"
    reached = Endpoint(listener, "host", 9092, 0 if version == 0 else 1)
    assert known == BrokerImage(1, (reached,), "a" if version >= 2 else None)
    assert known.endpoint(listener) == reached
    assert known.endpoint("OUTSIDE") is None


def test_an_image_shares_what_did_not_change() -> None:
    before, _ = apply(
        EMPTY, update(topic("a", partition()), topic("b", partition(), topic_id=b"b" * 16))
    )
    after, changed = apply(before, update(topic("b", partition(leader=2), topic_id=b"b" * 16)))
    assert changed == ("b",)
    assert after.topics["a"] is before.topics["a"]
    assert after.brokers is before.brokers
    assert before.topics["b"].partitions[0].leader == 1


def test_news_that_are_none_change_nothing() -> None:
    before, _ = apply(EMPTY, update(topic("a", partition())))
    after, changed = apply(before, update(topic("a", partition())))
    assert changed == ()
    assert after.topics is before.topics


def test_partitions_stand_in_the_order_of_their_indexes() -> None:
    before, _ = apply(EMPTY, update(topic("a", partition(2), partition(0))))
    known = before.topics["a"]
    assert [found.index for found in known.partitions] == [0, 2]
    assert known.partition(1) is None
    assert known.partition(2) is known.partitions[1]
    after, _ = apply(before, update(topic("a", partition(1))))
    assert [found.index for found in after.topics["a"].partitions] == [0, 1, 2]
    assert after.partition("a", 1) is after.topics["a"].partitions[1]
    assert after.partition("b", 0) is None


def test_a_topic_goes_with_its_last_partition() -> None:
    before, _ = apply(EMPTY, update(topic("a", partition(0), partition(1))))
    half, changed = apply(before, update(topic("a", partition(0, leader=-2))))
    assert changed == ("a",)
    assert [found.index for found in half.topics["a"].partitions] == [1]
    after, changed = apply(half, update(topic("a", partition(1, leader=-2))))
    assert changed == ("a",)
    assert (after.topics, after.topic_names) == ({}, {})
    assert apply(after, update(topic("a", partition(1, leader=-2))))[1] == ()


def test_a_topic_created_anew_has_none_of_the_old_partitions() -> None:
    before, _ = apply(EMPTY, update(topic("a", partition(0), partition(1))))
    after, _ = apply(before, update(topic("a", partition(0), topic_id=b"n" * 16)))
    assert after.topics["a"].topic_id == b"n" * 16
    assert len(after.topics["a"].partitions) == 1
    assert after.topic_names == {b"n" * 16: "a"}


def test_a_full_update_names_all_there_is() -> None:
    before, _ = apply(
        EMPTY, update(topic("a", partition()), topic("b", partition(), topic_id=b"b" * 16))
    )
    request = update(topic("b", partition(), topic_id=b"b" * 16))
    request.is_k_raft_controller, request.type = True, 2
    after, changed = apply(before, request)
    assert changed == ("a",)
    assert list(after.topics) == ["b"]


def test_brokers_that_are_not_named_are_gone() -> None:
    request = update()
    request.live_brokers = [broker(1), broker(2)]
    before, _ = apply(EMPTY, request)
    after, _ = apply(before, update())
    assert (list(before.brokers), list(after.brokers)) == ([1, 2], [1])


def test_an_image_compares_as_a_value() -> None:
    image, _ = apply(EMPTY, update(topic("a", partition())))
    assert image.topics["a"] == TopicImage("a", ID, image.topics["a"].partitions)
