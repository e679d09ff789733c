"""Which partitions should go back to their preferred leaders, so that work is spread (pure)."""

from __future__ import annotations

from ottla.controller.context import ControllerContext, TopicPartition
from ottla.controller.elections import elect_preferred


def out_of_balance(
    context: ControllerContext, *, percentage_per_broker: int
) -> list[TopicPartition]:
    """Those of brokers that lead too few of the partitions they should, and could lead now."""
    if context.reassigned:
        return []  # leaders move anyway
    led_by_others: dict[int, list[TopicPartition]] = {}
    preferred_count: dict[int, int] = {}
    for at, leadership in context.leaderships.items():
        if at.topic in context.deleting:
            continue
        preferred = context.replica_set(at).replicas[0]
        preferred_count[preferred] = preferred_count.get(preferred, 0) + 1
        if leadership.leader != preferred:
            led_by_others.setdefault(preferred, []).append(at)
    return [
        at
        for broker, missed in led_by_others.items()
        if len(missed) * 100 > preferred_count[broker] * percentage_per_broker
        for at in missed
        if elect_preferred(context.electorate(at))
    ]
