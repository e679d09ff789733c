"""Each partition in numbers, under Kafka's names. There may be ten thousand of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ottla.metrics import Metrics, Row
from ottla.replication.partition import Partition
from ottla.storage.log import Log

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_LABELS = ("topic", "partition")
_OF_A_LOG: dict[str, Callable[[Log], int]] = {
    "Size": lambda log: log.size_bytes,
    "LogStartOffset": lambda log: log.log_start_offset,
    "LogEndOffset": lambda log: log.next_offset,
    "NumLogSegments": lambda log: len(log.segments),
}
_OF_A_LEADER: dict[str, Callable[[Partition], int]] = {
    "InSyncReplicasCount": lambda partition: len(partition.isr),
    "ReplicasCount": lambda partition: len(partition.replicas),
}


def measure_partitions(metrics: Metrics, broker: Broker) -> None:
    """What is wrong with a partition is told of those that it is wrong with, and of no other."""
    held = list(broker.replicas.partitions.values())
    led = [partition for partition in held if partition.is_leader]
    for name, read in _OF_A_LOG.items():
        metrics.gauges(f"kafka.log:type=Log,name={name}", _LABELS, _of_logs(held, read))
    for name, count in _OF_A_LEADER.items():
        _show(metrics, name, _of_leaders(led, count), "of partitions that this broker leads")
    behind = [each for each in led if len(each.isr) < len(each.replicas)]
    below = [each for each in led if each.is_under_min_insync]
    for name, found in (("UnderReplicated", behind), ("UnderMinIsr", below)):
        _show(metrics, name, _of_leaders(found, lambda _: 1), "told only where it is so")


def _show(metrics: Metrics, name: str, rows: Iterable[Row], meaning: str) -> None:
    metrics.gauges(f"kafka.cluster:type=Partition,name={name}", _LABELS, rows, meaning=meaning)


def _of_logs(partitions: list[Partition], read: Callable[[Log], int]) -> Iterator[Row]:
    """Of those whose disk has not failed, even while the page was made."""
    for each in partitions:
        if each.log is not None:
            yield (each.topic, str(each.index)), read(each.log)


def _of_leaders(partitions: list[Partition], read: Callable[[Partition], int]) -> Iterator[Row]:
    for each in partitions:
        yield (each.topic, str(each.index)), read(each)
