"""Where replicas go, and what they are on the way: rules without a cluster."""

from __future__ import annotations

import pytest

from ottla.controller.context import ControllerContext, LiveBroker, ReplicaSet, TopicPartition
from ottla.controller.reassignment import (
    has_arrived,
    on_the_way,
    original,
    plan,
    target,
    under_way,
)
from ottla.metadata.image import BrokerImage
from ottla.protocol.errors import ErrorCode, KafkaError

ORDERS = TopicPartition("orders", 0)
MOVING = ReplicaSet((3, 4, 1, 2), adding=(3, 4), removing=(1, 2))


def context(*live: int, replicas: ReplicaSet) -> ControllerContext:
    made = ControllerContext(1)
    made.brokers = {
        broker: LiveBroker(BrokerImage(id=broker, endpoints=(), rack=None), epoch=1)
        for broker in live
    }
    made.add_topic("orders", b"1" * 16, {0: replicas})
    return made


def refusal(made: ControllerContext, to: tuple[int, ...] | None, at: TopicPartition) -> KafkaError:
    with pytest.raises(KafkaError) as refused:
        plan(made, at, to)
    return refused.value


@pytest.mark.parametrize(
    ("before", "to", "after"),
    [
        (ReplicaSet((1, 2)), (3, 4), MOVING),
        (ReplicaSet((1, 2)), (2, 1), ReplicaSet((2, 1))),
        (ReplicaSet((1, 2)), (1,), ReplicaSet((1, 2), removing=(2,))),
        (ReplicaSet((1,)), (2, 1), ReplicaSet((2, 1), adding=(2,))),
        # Elsewhere before it has arrived: broker 3 is not needed any more.
        (MOVING, (4, 5), ReplicaSet((4, 5, 1, 2), adding=(4, 5), removing=(1, 2))),
        (MOVING, (1, 2), ReplicaSet((1, 2))),
    ],
)
def test_on_the_way_a_partition_has_its_new_and_its_old_replicas(
    before: ReplicaSet, to: tuple[int, ...], after: ReplicaSet
) -> None:
    assert on_the_way(before, to) == after
    assert target(after) == to
    assert original(after) == tuple(b for b in after.replicas if b in original(before))


def test_it_has_arrived_when_all_that_stay_are_in_sync() -> None:
    assert not has_arrived(MOVING, (1, 2, 3))
    assert has_arrived(MOVING, (1, 2, 3, 4))
    assert has_arrived(ReplicaSet((1, 2)), (1,))  # nothing moves, so nobody is waited for


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ((), "Empty"),
        ((2, 2), "Duplicate"),
        ((2, -1), "Invalid broker id"),
        ((1, 9), r"Replica list: \[9\], live broker list: \[1, 2\]"),
    ],
)
def test_a_target_must_name_live_brokers_each_once(to: tuple[int, ...], words: str) -> None:
    refused = refusal(context(1, 2, replicas=ReplicaSet((1,))), to, ORDERS)
    assert refused.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    with pytest.raises(KafkaError, match=words):
        raise refused


def test_a_replica_on_a_dead_broker_may_stay_or_go() -> None:
    made = context(1, replicas=ReplicaSet((1, 9)))
    assert plan(made, ORDERS, (9, 1)) == ReplicaSet((9, 1))
    assert plan(made, ORDERS, (1,)) == ReplicaSet((1, 9), removing=(9,))


def test_only_what_moves_can_be_stopped() -> None:
    still = context(1, 2, replicas=ReplicaSet((1, 2)))
    assert refusal(still, None, ORDERS).code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    assert plan(context(1, replicas=MOVING), ORDERS, None) == ReplicaSet((1, 2))


def test_a_partition_must_exist_and_not_be_about_to_go() -> None:
    made = context(1, replicas=ReplicaSet((1,)))
    missing = TopicPartition("orders", 7)
    assert refusal(made, (1,), missing).code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert refusal(made, None, missing).code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    made.deleting["orders"] = None
    assert refusal(made, (1,), ORDERS).code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_what_is_under_way_is_told_of_those_asked_for() -> None:
    made = context(1, replicas=MOVING)
    assert under_way(made, None) == {ORDERS: MOVING}
    assert under_way(made, {"orders": [0, 5]}) == {ORDERS: MOVING}
    assert under_way(made, {"orders": [1], "others": [0]}) == {}
    made.assign(ORDERS, ReplicaSet((3, 4)))
    assert under_way(made, None) == {}
