"""When leadership is to go back to the preferred leaders."""

from __future__ import annotations

from ottla.controller.balance import out_of_balance
from ottla.controller.context import (
    ControllerContext,
    Leadership,
    LiveBroker,
    ReplicaSet,
    TopicPartition,
)
from ottla.metadata.image import BrokerImage


def context(leaders: list[int], *, isr: tuple[int, ...] = (1, 2)) -> ControllerContext:
    """One topic, preferred by broker 1 everywhere, led by these."""
    made = ControllerContext(1)
    for broker in (1, 2):
        made.brokers[broker] = LiveBroker(BrokerImage(broker, (), None), epoch=1)
    made.add_topic("t", b"", {index: ReplicaSet((1, 2)) for index in range(len(leaders))})
    for index, leader in enumerate(leaders):
        made.leaderships[TopicPartition("t", index)] = Leadership(leader, 0, isr, 1)
    return made


def test_a_share_above_the_limit_moves_back() -> None:
    leaders = [1] * 8 + [2] * 2
    moved = out_of_balance(context(leaders), percentage_per_broker=10)
    assert moved == [TopicPartition("t", 8), TopicPartition("t", 9)]


def test_a_share_at_the_limit_stays() -> None:
    assert out_of_balance(context([1] * 9 + [2]), percentage_per_broker=10) == []


def test_who_is_not_in_sync_cannot_lead() -> None:
    assert out_of_balance(context([2, 2], isr=(2,)), percentage_per_broker=10) == []


def test_nothing_moves_during_a_reassignment_or_in_a_doomed_topic() -> None:
    reassigned = context([2, 2])
    reassigned.assign(TopicPartition("t", 0), ReplicaSet((1, 2), adding=(1,)))
    assert out_of_balance(reassigned, percentage_per_broker=10) == []
    doomed = context([2, 2])
    doomed.deleting["t"] = None
    assert out_of_balance(doomed, percentage_per_broker=10) == []
