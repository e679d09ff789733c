"""Logs compacted five times by the cleaner of Apache Kafka 3.9.1, byte for byte the same here.

Histories are random: tombstones, transactions, producers, all three formats, no compression. Each
pass begins where Kafka's did and has the same time; segments, transaction indexes and where the
pass ended are compared.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

from ottla.simulation.disk import SimulatedDisk
from ottla.storage.cleaner import clean
from ottla.storage.cleaning_plan import LogFacts, cleanable_range, plan_cleaning
from ottla.storage.config import LogConfig
from ottla.storage.names import Kind, Stage, parse_file_name
from ottla.storage.retention import SegmentFacts
from ottla.storage.transaction_trail import ActiveProducer
from ottla.storage.transactions import AbortedTransaction, parse_transaction_index

FOLDER = "/logs/compacted-0"
CASES = Path(__file__).parent / "compaction.jsonl.gz"


class Replay:
    """One log, compacted pass by pass, each result swapped in as simply as can be."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.disk = SimulatedDisk(Random(1))
        self.disk.make_folder(FOLDER)
        self.active = SegmentFacts(case["active_offset"], 1, 0)
        self.aborted = [AbortedTransaction(*entry) for entry in case["aborted"]]
        self.producers = [ActiveProducer(*producer) for producer in case["producers"]]
        self.config = LogConfig(
            compacts=True,
            segment_bytes=case["segment_bytes"],
            index_interval_bytes=case["index_interval_bytes"],
            delete_retention_ms=case["delete_retention_ms"],
        )
        for base, data in case["segments"].items():
            path = f"{FOLDER}/{int(base):020d}.log"
            self.disk.open(path, create=True).append([bytes.fromhex(data)])
            self.disk.set_modified(path, case["modified_ms"][base])

    def files(self, kind: Kind) -> dict[str, str]:
        """Contents by base offset, in hex as in the case."""
        names = [(name, parse_file_name(name)) for name in self.disk.names(FOLDER)]
        return {
            str(parsed.offset): self.disk.read(f"{FOLDER}/{name}").hex()
            for name, parsed in names
            if parsed.kind is kind and parsed.stage is Stage.PRESENT
        }

    def segments(self) -> list[SegmentFacts]:
        indexes, time_indexes = self.files(Kind.OFFSET_INDEX), self.files(Kind.TIME_INDEX)
        found = []
        for base in self.files(Kind.LOG):
            status = self.disk.status(f"{FOLDER}/{int(base):020d}.log")
            assert status is not None
            facts = SegmentFacts(
                int(base),
                status.size_bytes,
                status.modified_ms,
                index_bytes=len(indexes.get(base, "")) // 2,
                time_index_bytes=len(time_indexes.get(base, "")) // 2,
            )
            found.append(facts)
        return [*found, self.active]

    def compact(self, *, first_dirty: int, now_ms: int) -> int:
        """One pass; where it ended."""
        end = self.active.base_offset + 1
        log = LogFacts(self.segments(), 0, end, end, first_dirty, self.config)
        plan = plan_cleaning(
            log,
            cleanable_range(log, now_ms=now_ms),
            aborted=self.aborted,
            active_producers=self.producers,
            map_bytes=1 << 20,
        )
        for group in clean(
            self.disk,
            FOLDER,
            plan,
            now_ms=now_ms,
            throttle=lambda _: None,
            progress=lambda _done, _total: None,
        ):
            for name in self.disk.names(FOLDER):
                parsed = parse_file_name(name)
                if parsed.offset in group.sources and parsed.stage is Stage.PRESENT:
                    self.disk.remove(f"{FOLDER}/{name}")
            for name in group.files.names:
                self.disk.rename(f"{FOLDER}/{name}", f"{FOLDER}/{name.removesuffix('.cleaned')}")
            end = group.next_dirty_offset
        self.aborted = [
            entry
            for data in self.files(Kind.TRANSACTION_INDEX).values()
            for entry in parse_transaction_index(bytes.fromhex(data), "")
        ]
        return end


def test_every_pass_ends_as_in_kafka() -> None:
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    assert len(cases) == 70
    for number, case in enumerate(cases):
        replay = Replay(case)
        first_dirty = 0
        for expected in case["passes"]:
            end = replay.compact(first_dirty=first_dirty, now_ms=expected["now_ms"])
            assert end == expected["end_offset"], number
            assert replay.files(Kind.LOG) == expected["segments"], number
            # Ottla leaves an empty one where there was one, to tell it from one that is lost.
            indexes = replay.files(Kind.TRANSACTION_INDEX)
            written = {base: data for base, data in indexes.items() if data}
            assert written == expected["transactions"], number
            first_dirty = max(map(int, expected["segments"]))
