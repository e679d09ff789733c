"""The partitions of one broker on a simulated disk and virtual time."""

from __future__ import annotations

import random
from collections.abc import Callable

from ottla.protocol.errors import ErrorCode
from ottla.replication.leadership import Leadership, PartitionState
from ottla.replication.partition import Partition
from ottla.replication.reading import CONSUMER, Isolation, Reader, Wanted
from ottla.replication.replicas import Replicas
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.config import LogConfig
from ottla.storage.directories import LogDirectories
from ottla.storage.hop import Hop
from ottla.storage.threads import Inline
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from tests.unit.storage.logs import NOW_MS, batch
from tests.virtual_time import virtual_loop

BROKER = 1
TOPIC_ID = b"t" * 16


class World:
    """Made on virtual time. `become` is what the controller says."""

    def __init__(self, *folders: str, config: LogConfig | None = None, min_insync: int = 1) -> None:
        self.disk = SimulatedDisk(random.Random(0))
        self.config = config or LogConfig()
        self.directories = LogDirectories.open(
            self.disk,
            folders or ("/data",),
            lambda topic: self.config,
            broker_id=BROKER,
            cluster_id=None,
            now_ms=NOW_MS,
        )
        loop = virtual_loop()
        self.tick = Tick(loop.call_soon)
        self.timer = Timer(loop)
        hop = Hop(Inline(), loop.call_soon)
        self.replicas = Replicas(BROKER, self.directories, self.tick, self.timer, hop)
        self.leadership = Leadership(
            self.replicas, min_insync_of=lambda topic: min_insync, new_tag=lambda: "ab" * 16
        )

    async def become(
        self,
        index: int = 0,
        *,
        leader: int = BROKER,
        epoch: int = 0,
        isr: tuple[int, ...] = (BROKER,),
        replicas: tuple[int, ...] | None = None,
        topic_id: bytes = TOPIC_ID,
        is_new: bool = False,
    ) -> ErrorCode:
        state = PartitionState(
            topic="orders",
            topic_id=topic_id,
            partition_index=index,
            controller_epoch=1,
            leader=leader,
            leader_epoch=epoch,
            isr=isr,
            replicas=isr if replicas is None else replicas,
            partition_epoch=0,
            is_new=is_new,
        )
        await self.leadership.open_logs([state], now_ms=NOW_MS)
        return self.leadership.become(state)

    async def led(self, index: int = 0, *, isr: tuple[int, ...] = (BROKER,)) -> Partition:
        assert await self.become(index, isr=isr) is ErrorCode.NONE
        return self.replicas.partitions["orders", index]

    def append(self, partition: Partition, *values: bytes, acks: int = 1) -> None:
        """One batch, written."""
        partition.append(batch(*values), acks=acks, now_ms=NOW_MS)
        self.tick.end()

    def fetched(self, partition: Partition, follower: int, offset: int) -> None:
        """A follower has everything before `offset`."""
        partition.follower_ends[follower] = offset
        if partition.advance():
            self.replicas.recheck(partition)


def wanted(
    partition: Partition | None,
    offset: int = 0,
    *,
    max_bytes: int = 1_000_000,
    leader_epoch: int = -1,
    last_fetched_epoch: int = -1,
    error: ErrorCode = ErrorCode.NONE,
) -> Wanted:
    index = partition.index if partition is not None else 0
    return Wanted(
        "orders",
        TOPIC_ID,
        index,
        partition,
        error,
        offset,
        max_bytes,
        leader_epoch,
        last_fetched_epoch,
    )


def reader(
    replica_id: int = CONSUMER,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    max_bytes: int = 10_000_000,
    min_bytes: int = 1,
    first_batch_whole: bool = True,
) -> Reader:
    return Reader(replica_id, isolation, max_bytes, min_bytes, first_batch_whole)


class Answers:
    """What came back, and when."""

    def __init__(self) -> None:
        self.found: list[object] = []
        self.at_ms: list[int] = []

    def __call__(self, answer: object) -> None:
        self.found.append(answer)
        self.at_ms.append(round(virtual_loop().time() * 1000))

    @property
    def is_there(self) -> bool:
        return bool(self.found)


Reply = Callable[[object], None]
