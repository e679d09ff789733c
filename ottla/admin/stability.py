"""Why last stable offsets stand still: what is open in partitions, and who will end it.

Leaders tell what began and how far readers see, coordinators what they still have to end, and the
first record of a transaction that nobody knows tells how old it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.offsets import LATEST, FoundOffset, find
from ottla.admin.open_transactions import open_transactions
from ottla.admin.transaction_verdicts import (
    Judged,
    OpenTransaction,
    Partition,
    confirmed,
    hanging,
    is_silent,
    judge,
)
from ottla.admin.transactions import list_transactions
from ottla.admin.unread import unread_timestamps
from ottla.protocol.errors import KafkaError
from ottla.timing.clock import Clock


@dataclass(frozen=True, slots=True)
class Stability:
    """One partition. The first of `open` is where the last stable offset stands."""

    partition: TopicPartition
    last_stable_offset: int
    high_watermark: int
    open: tuple[Judged, ...]

    @property
    def held_back(self) -> int:
        """How many records read_committed consumers do not see yet."""
        # The two are asked one after the other.
        return max(0, self.high_watermark - self.last_stable_offset)

    @property
    def stands_still(self) -> bool:
        return bool(self.open) or self.held_back > 0


class Transactions:
    """What partitions and coordinators say of transactions, put side by side."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock

    async def look(
        self, partitions: Sequence[TopicPartition]
    ) -> dict[TopicPartition, Stability | KafkaError]:
        """The committed end is asked first: so it is never beyond the other."""
        opened = await open_transactions(self._cluster, partitions)
        led = [each for each in partitions if not isinstance(opened[each], KafkaError)]
        committed = await find(self._cluster, led, LATEST, read_committed=True) if led else {}
        ends = await find(self._cluster, led, LATEST) if led else {}
        judged: dict[Partition, list[Judged]] = {}
        for each in await self._with_ages(await self._judge(_all(opened))):
            judged.setdefault(each.open.partition, []).append(each)
        return {
            each: _stability(each, opened[each], committed.get(each), ends.get(each), judged)
            for each in partitions
        }

    async def find_hanging(
        self, partitions: Sequence[TopicPartition], *, silent_ms: int
    ) -> tuple[list[Judged], dict[TopicPartition, KafkaError]]:
        """Looks twice; also which partitions could not be looked at."""
        first, refused = await self._silent(partitions, silent_ms)
        suspects = list(dict.fromkeys(TopicPartition(*each.open.partition) for each in first))
        second, _ = await self._silent(suspects, silent_ms)
        return await self._with_ages(confirmed(first, second)), refused

    async def _silent(
        self, partitions: Sequence[TopicPartition], silent_ms: int
    ) -> tuple[list[Judged], dict[TopicPartition, KafkaError]]:
        """Those that hang among the silent, and the partitions that did not answer."""
        opened = await open_transactions(self._cluster, partitions) if partitions else {}
        now_ms = self._clock.now_ms()
        silent = [each for each in _all(opened) if is_silent(each, for_ms=silent_ms, now_ms=now_ms)]
        return hanging(await self._judge(silent)), {
            partition: told for partition, told in opened.items() if isinstance(told, KafkaError)
        }

    async def _judge(self, opened: Sequence[OpenTransaction]) -> list[Judged]:
        producers = list(dict.fromkeys(each.producer_id for each in opened))
        known = await list_transactions(self._cluster, producer_ids=producers) if opened else []
        now_ms = self._clock.now_ms()
        return [judge(each, known, now_ms=now_ms) for each in opened]

    async def _with_ages(self, judged: Sequence[Judged]) -> list[Judged]:
        """Of those that no coordinator knows, the time of the first record."""
        found: dict[OpenTransaction, int] = {}
        left = [each.open for each in judged if each.began_ms is None]
        while left:
            # One of each partition at a time, as they are asked.
            first = {TopicPartition(*each.partition): each for each in reversed(left)}
            asked = {partition: each.start_offset for partition, each in first.items()}
            times = await unread_timestamps(self._cluster, asked)
            for partition, opened in first.items():
                if isinstance(timestamp := times[partition], int):
                    found[opened] = timestamp
            left = [each for each in left if first[TopicPartition(*each.partition)] is not each]
        return [
            each._replace(began_ms=found.get(each.open)) if each.began_ms is None else each
            for each in judged
        ]


def _all(
    opened: Mapping[TopicPartition, tuple[OpenTransaction, ...] | KafkaError],
) -> list[OpenTransaction]:
    return [each for told in opened.values() if isinstance(told, tuple) for each in told]


def _stability(
    partition: TopicPartition,
    opened: tuple[OpenTransaction, ...] | KafkaError,
    committed: FoundOffset | KafkaError | None,
    end: FoundOffset | KafkaError | None,
    judged: Mapping[Partition, Sequence[Judged]],
) -> Stability | KafkaError:
    for told in (opened, committed, end):
        if isinstance(told, KafkaError):
            return told
    assert isinstance(committed, FoundOffset)
    assert isinstance(end, FoundOffset)
    return Stability(
        partition=partition,
        last_stable_offset=committed.offset or 0,
        high_watermark=end.offset or 0,
        open=tuple(judged.get(partition, ())),
    )
