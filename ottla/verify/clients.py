"""What a workload needs of a client library. Partitions are a topic and a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

Place = tuple[str, int]
Position = tuple[Place, int]
Incoming = tuple[Place, int, str]  # partition, offset, value


class Answer(Protocol):
    """Unless it is ok nobody knows whether it happened; `words` say what the library says."""

    @property
    def is_ok(self) -> bool: ...
    @property
    def is_fenced(self) -> bool: ...
    @property
    def words(self) -> str: ...


class Producer(Protocol):
    """Owner of a transactional id, as soon as it is initialized."""

    def initialize(self) -> Answer | None:
        """None: not yet, to be asked again a little later."""
        ...

    def begin(self) -> Answer: ...
    def send(self, partition: Place, value: str, on_delivery: Callable[[int | None], None]) -> None:
        """Hears the offset later, or None if it failed."""
        ...

    def send_offsets(self, offsets: Sequence[Position], membership: object) -> Answer: ...
    def end(self, *, is_commit: bool) -> Answer:
        """Records that are on their way have been heard of when it returns."""
        ...

    def abandon(self) -> None:
        """As if it were killed: nothing is ended, nothing more is heard."""
        ...


class Consumer(Protocol):
    """It reads what is committed, or everything, as it was made."""

    def assign(self, positions: Sequence[Position]) -> None: ...
    def subscribe(
        self,
        topic: str,
        *,
        on_assigned: Callable[[Sequence[Place]], None],
        on_revoked: Callable[[Sequence[Place]], None],
    ) -> None: ...
    def poll(self, timeout_s: float) -> Sequence[Incoming]: ...
    def seek(self, positions: Sequence[Position]) -> bool: ...
    def committed(self, partitions: Sequence[Place]) -> Sequence[Position] | None:
        """Stable offsets of its group, -1 where it has none; None if nobody answers."""
        ...

    def membership(self) -> object:
        """What a producer shows, so that offsets of somebody no longer a member are refused."""
        ...

    def close(self) -> None: ...


class Clients(Protocol):
    def producer(self, transactional_id: str) -> Producer: ...
    def reader(self, *, read_committed: bool) -> Consumer: ...
    def member(self, group: str) -> Consumer: ...
    def everything(
        self, partitions: Sequence[Place], *, read_committed: bool
    ) -> Iterable[Incoming]:
        """From the beginning of each partition to its end as it is now."""
        ...

    def settle(self, partitions: Sequence[Place]) -> str:
        """Waits until every transaction in them has its markers; or says where one has not."""
        ...
