"""The group coordinator alone, over a log in memory: commits, heartbeats, and a log's load."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from ottla.coordinators.batch import build_coordinator_batch
from ottla.coordinators.effects import Record, RecordRows
from ottla.coordinators.groups.answers import OffsetToCommit
from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.forensics import RebalanceHistory
from ottla.coordinators.groups.records import (
    CommittedOffset,
    offset_key,
    offset_key_start,
    offset_value,
)
from ottla.coordinators.groups.requests import GroupSettings, Join, JoinAnswer
from ottla.coordinators.groups.settings import OffsetSettings
from ottla.coordinators.log import Producer
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import patch_batch, read_header
from ottla.timing.clock import SystemClock
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer

MILLION = 1_000_000
OFFSETS = 200_000
GROUPS = GroupSettings(6_000, 1_800_000, 0, 10_000)
SETTINGS = OffsetSettings(4096, 5 << 20, 7 * 86_400_000, 600_000, 5_000)


class MemoryLog:
    """Builds the batches, as a real one would, and forgets them."""

    max_batch_bytes = 1_048_588

    def __init__(self) -> None:
        self.data = memoryview(b"")
        self.starts: dict[int, int] = {}  # of batches, by their base offset
        self.batches = 0

    def append(
        self,
        records: Sequence[Record | RecordRows],
        on_stored: Callable[[ErrorCode], None],
        *,
        timeout_ms: int,
        producer: Producer | None = None,
    ) -> None:
        build_coordinator_batch(records, timestamp=1)
        self.batches += 1
        asyncio.get_running_loop().call_soon(on_stored, ErrorCode.NONE)

    def read(
        self, from_offset: int, *, max_bytes: int, on_read: Callable[[bytes | ErrorCode], None]
    ) -> None:
        start = self.starts.get(from_offset, len(self.data))
        piece = bytes(self.data[start : start + max_bytes])
        asyncio.get_running_loop().call_soon(on_read, piece)

    def fill(self, *, groups: int, partitions: int, per_batch: int) -> None:
        out = bytearray()
        starts = [offset_key_start(f"consumer-group-{number}") for number in range(groups)]
        for offset in range(0, MILLION, per_batch):
            records = []
            for number in range(offset, offset + per_batch):
                group, partition = divmod(number % (groups * partitions), partitions)
                key = offset_key(starts[group], "orders-by-region", partition)
                value = offset_value(CommittedOffset(number, 5, "", 1_700_000_000_000 + number))
                records.append(Record(key, value))
            batch = bytearray(build_coordinator_batch(records, timestamp=1_700_000_000_000))
            patch_batch(memoryview(batch), read_header(batch), base_offset=offset, leader_epoch=0)
            self.starts[offset] = len(out)
            out += batch
        self.data = memoryview(bytes(out))


class FixedRandomness:
    def __init__(self) -> None:
        self._count = 0

    def bytes(self, count: int) -> bytes:
        self._count += 1
        return self._count.to_bytes(count, "big")


def coordinator(log: MemoryLog) -> GroupCoordinator:
    loop = asyncio.get_running_loop()
    return GroupCoordinator(
        GROUPS,
        SETTINGS,
        open_log=lambda number: log,
        witness=RebalanceHistory(),
        timer=Timer(loop),
        tick=Tick(loop.call_soon),
        clock=SystemClock(),
        randomness=FixedRandomness(),
        call_soon=loop.call_soon,
    )


async def started(log: MemoryLog, partitions: int) -> GroupCoordinator:
    made = coordinator(log)
    made.start(partitions)
    for number in range(partitions):
        made.elected(number, 1)
    await until(lambda: not made.partitions.is_loading)
    return made


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - the rounds of the loop are what is measured
        await asyncio.sleep(0)


async def commits(per_commit: int) -> None:
    """Of 300 groups over 50 partitions, two hundred commits in a round of the loop."""
    log, answers = MemoryLog(), list[object]()
    made = await started(log, 50)
    requests = [
        [OffsetToCommit("orders", partition, offset) for partition in range(per_commit)]
        for offset in range(100)
    ]
    count = OFFSETS // per_commit
    start = time.process_time()
    for number in range(count):
        made.commit(f"group-{number % 300}", requests[number % 100], answers.append)
        if number % 200 == 0:
            await asyncio.sleep(0)
    await until(lambda: len(answers) == count)
    took = time.process_time() - start
    made.shut_down()
    print(f"  {per_commit:4} offsets a commit: {OFFSETS / took:9,.0f} offsets/s,", end=" ")
    print(f"{count / took:8,.0f} commits/s, {count / log.batches:.1f} commits a batch")


async def heartbeats() -> None:
    """One group of 500 members."""
    made, joined = await started(MemoryLog(), 1), list[JoinAnswer]()
    join = Join("", None, "c", "/h", 10_000, 60_000, "consumer", (("range", b""),))
    for _ in range(500):
        made.join("crowd", join, joined.append)
    await until(lambda: len(joined) == 500)
    errors = list[ErrorCode]()
    start = time.process_time()
    for _ in range(200):
        for answer in joined:
            made.heartbeat(
                "crowd",
                member_id=answer.member_id,
                instance_id=None,
                generation=answer.generation,
                to=errors.append,
            )
    took = time.process_time() - start
    made.shut_down()
    assert not any(errors)
    print(f"  heartbeats in a group of 500: {len(errors) / took:9,.0f}/s")


async def load(*, groups: int, partitions: int, per_batch: int) -> None:
    log = MemoryLog()
    log.fill(groups=groups, partitions=partitions, per_batch=per_batch)
    made = coordinator(log)
    made.start(1)
    start, longest = time.process_time(), 0.0
    made.elected(0, 1)
    while made.partitions.is_loading:
        before = time.process_time()
        await asyncio.sleep(0)
        longest = max(longest, time.process_time() - before)
    took = time.process_time() - start
    made.shut_down()
    keys, size_mb = groups * partitions, len(log.data) / 1e6
    print(
        f"  1,000,000 records of {keys:9,} keys, {per_batch:4} a batch ({size_mb:.0f} MB):", end=""
    )
    print(f" {took:5.2f} s, longest round {longest * 1000:.1f} ms")


def main() -> None:
    for per_commit in (1, 10, 100):
        asyncio.run(commits(per_commit))
    asyncio.run(heartbeats())
    for groups, partitions, per_batch in (
        (100, 100, 1), (100, 100, 10), (100, 100, 1000), (1000, 1000, 10),
    ):  # fmt: skip
        asyncio.run(load(groups=groups, partitions=partitions, per_batch=per_batch))
