"""A log of a million committed offsets that both brokers load, and what is fetched of it then."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from statistics import median

from benchmarks.beside.bench import Bench, empty_folder, started
from benchmarks.beside.members import wait_for_coordinator
from benchmarks.beside.rows import Row, at_least, at_most
from benchmarks.beside.table import Figures
from benchmarks.beside.targets import Target
from benchmarks.drivers.group_frames import LEADER_EPOCH, OFFSET, offset_fetch
from ottla.coordinators.batch import build_coordinator_batch
from ottla.coordinators.effects import Record
from ottla.coordinators.groups.java_hash import partition_of
from ottla.coordinators.groups.records import (
    CommittedOffset,
    offset_key,
    offset_key_start,
    offset_value,
)
from ottla.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ottla.protocol.records.batch import patch_batch, read_header

PARTITION, PARTITIONS = 7, 50
TOPICS = tuple(f"benchmark-{number}" for number in range(10))
A_TOPIC = 1_000  # partitions
A_GROUP = len(TOPICS) * A_TOPIC
FETCH_S, FETCH_WARM_S = 4, 5


@dataclass(frozen=True, slots=True)
class OffsetsLog:
    """Records of the offsets of `groups`, all in turn, again and again."""

    label: str
    groups: int
    per_batch: int
    records: int = 1_000_000

    @property
    def rows(self) -> tuple[Row, Row]:
        start = Row(f"{self.label}, from start", "s", at_most(1))
        return start, Row(f"{self.label}, after start", "s", at_most(1))

    def write(self, file: Path, records: int) -> None:
        now_ms = int(time.time() * 1000)  # older ones would expire
        value = offset_value(CommittedOffset(OFFSET, LEADER_EPOCH, "", now_ms))
        keys = [
            offset_key(offset_key_start(group), topic, index)
            for group in group_names(self.groups)
            for topic in TOPICS
            for index in range(A_TOPIC)
        ]
        with file.open("wb") as out:
            for offset in range(0, records, self.per_batch):
                places = range(offset, offset + self.per_batch)
                chosen = [Record(keys[place % len(keys)], value) for place in places]
                batch = bytearray(build_coordinator_batch(chosen, timestamp=now_ms))
                head = read_header(batch)
                patch_batch(memoryview(batch), head, base_offset=offset, leader_epoch=0)
                out.write(batch)


LOGS = (
    OffsetsLog("log of 1 M offsets", groups=100, per_batch=100),
    OffsetsLog("log of 1 M commits", groups=1, per_batch=1),
)
NAMED = Row("fetch of 10,000 offsets, named", "1/s", at_least(1))
EVERY = Row("fetch of 10,000 offsets, all", "1/s", at_least(1))
ROWS = (*(row for log in LOGS for row in log.rows), NAMED, EVERY)


def group_names(wanted: int) -> list[str]:
    """Those that belong to one partition of the log."""
    names = (f"group-{number:05}" for number in count())
    found = (name for name in names if partition_of(name, PARTITIONS) == PARTITION)
    return list(islice(found, wanted))


def load(target: Target, log: OffsetsLog, passes: int, *, scale: float) -> Figures:
    """Lives on one folder: the first creates the log, the second indexes it, all others count."""
    group = group_names(1)[0]
    with empty_folder() as folder:
        with started(target, folder, scale=scale) as bench:
            wait_for_coordinator(bench.admin, group)
        _replace(folder, log, int(log.records * scale))
        lives = [_life(target, folder, group, scale) for _ in range(passes + 1)][1:]
    figures = [median(each) for each in zip(*lives, strict=True)]
    return dict(zip((row.label for row in log.rows), figures, strict=True))


def fetch(target: Target, *, scale: float) -> Figures:
    """Of a group with ten thousand offsets, which come from a log."""
    log, group = LOGS[0], group_names(1)[0]
    with empty_folder() as folder:
        with started(target, folder, scale=scale) as bench:
            wait_for_coordinator(bench.admin, group)
        _replace(folder, log, A_GROUP)
        with started(target, folder, scale=scale) as bench:
            wait_for_coordinator(bench.admin, group)
            return {
                NAMED.label: _fetches(bench, group, names_them=True),
                EVERY.label: _fetches(bench, group, names_them=False),
            }


def _fetches(bench: Bench, group: str, *, names_them: bool) -> float:
    request = offset_fetch(group, TOPICS, partitions=A_TOPIC, names_them=names_them)
    seconds, warmup = (max(0.5, full * bench.scale) for full in (FETCH_S, FETCH_WARM_S))
    return bench.raw("repeat", request, seconds=seconds, warmup=warmup)["per_second"]


def _replace(folder: Path, log: OffsetsLog, records: int) -> None:
    place = folder / "data" / f"__consumer_offsets-{PARTITION}"
    for file in place.glob("0*"):
        file.unlink()
    log.write(place / f"{0:020}.log", records)


def _life(target: Target, folder: Path, group: str, scale: float) -> tuple[float, float]:
    with started(target, folder, scale=scale) as bench:
        answered = time.perf_counter()
        took_s = wait_for_coordinator(bench.admin, group) - answered
        _expect_all(bench, group)
        return bench.running.start_s + took_s, took_s


def _expect_all(bench: Bench, group: str) -> None:
    answer = bench.admin.ask(
        OffsetFetchRequest(group_id=group, topics=None), 5, OffsetFetchResponse
    )
    found = [each.committed_offset for topic in answer.topics for each in topic.partitions]
    assert found == [OFFSET] * A_GROUP, f"{group} has {len(found)} offsets"
