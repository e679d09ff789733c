"""What the coordinator needs of the brokers that lead a transaction's partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ottla.coordinators.transactions.requests import Marker, TopicPartition
from ottla.protocol.errors import ErrorCode

NO_LEADER = -1

# What became of each marker, by producer id and partition; None: the broker cannot be reached.
MarkerCodes = Mapping[tuple[int, TopicPartition], ErrorCode] | None


class MarkerPort(Protocol):
    def leader_of(self, topic: str, partition: int) -> int | None:
        """A broker's id; NO_LEADER: nobody that could be asked now; None: the topic is gone."""
        ...

    def send(
        self, broker: int, markers: Sequence[Marker], to: Callable[[MarkerCodes], None]
    ) -> None:
        """WriteTxnMarkers. `to` is called exactly once, perhaps at once."""
        ...
