"""Partitions that Ottla wrote, for a time with a real Kafka: served, written to, crashed, returned.

Every kind is there twice: what is only served stays as it was, and what returns gets more records.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ottla.protocol.errors import ErrorCode
from tests.kafka import questions
from tests.kafka.log_directory import is_clean, make_unclean, put_in
from tests.kafka.peer import KafkaPeer
from tests.kafka.questions import Producer
from tests.kafka.written import (
    INDEX_INTERVAL_BYTES,
    SEGMENT_BYTES,
    TOPICS,
    Partition,
    Seen,
    Sender,
    built,
    keyed_records,
    some_records,
    write_partition,
)

TORN = ("codecs", "format-1", "idempotent", "transactions")
VISITOR = 900_100  # the producer who writes to every partition that returns
INDEX_BYTES = "12000"  # what Kafka sets aside for an index, and a crash leaves to be copied
_TOPIC_CONFIG = {
    "segment.bytes": str(SEGMENT_BYTES),
    "index.interval.bytes": str(INDEX_INTERVAL_BYTES),
    "segment.index.bytes": INDEX_BYTES,
    "retention.ms": "-1",
}


@dataclass
class Stay:
    """The broker, running, and what Ottla gave it, by kind."""

    peer: KafkaPeer
    served: Mapping[str, Partition]
    returning: Mapping[str, Partition]
    torn: Mapping[str, Partition]
    now_ms: int

    @property
    def topics(self) -> list[str]:
        groups = (self.served, self.returning, self.torn)
        return [partition.topic for group in groups for partition in group.values()]


@dataclass
class Returned:
    """A copy of Kafka's log directory, and what Kafka said of it before it went down."""

    directory: Path
    records: Mapping[str, list[Seen]]
    committed: Mapping[str, list[Seen]]
    producers: Mapping[str, list[Producer]]
    visits: Mapping[str, tuple[bytes, int]]  # the visitor's last batch, and the offset it got


@dataclass
class Back:
    """The log directory as different ends left it, and as Kafka recovered it from the crash."""

    ends: Mapping[str, Returned]
    recovered: Path


def begin(peer: KafkaPeer, folder: Path) -> Stay:
    """Write the partitions, have Kafka create their topics, and exchange the one for the other."""
    # Kafka forgets producers that were silent for a day, so the records have to be of today.
    now_ms = int(folder.stat().st_mtime * 1000)

    def write(prefix: str, kinds: tuple[str, ...]) -> dict[str, Partition]:
        return {
            kind: write_partition(folder, kind, topic=f"{prefix}{kind}", now_ms=now_ms)
            for kind in kinds
        }

    stay = Stay(peer, write("", TOPICS), write("back-", TOPICS), write("torn-", TORN), now_ms)
    peer.start()
    questions.create_topics(peer, dict.fromkeys(stay.topics, _TOPIC_CONFIG))
    peer.stop()
    assert is_clean(peer.log_directory)
    closed = [*stay.served.values(), *stay.returning.values()]
    put_in((partition.finish() for partition in closed), peer.log_directory)
    _tell_epochs(peer, closed)
    peer.start(topics=stay.topics)
    return stay


def _tell_epochs(peer: KafkaPeer, partitions: list[Partition]) -> None:
    """Kafka's next leader must not come before those that the logs know."""
    latest = {partition.topic: partition.log.epochs.latest for partition in partitions}
    peer.set_leader_epochs({topic: entry.epoch for topic, entry in latest.items() if entry})


def come_back(stay: Stay, folder: Path) -> Back:
    """Have Kafka write more, stop, crash, and recover.

    After its crash it also finds logs that Ottla did not close, with half a batch at their ends.
    """
    peer = stay.peer
    questions.send_transactions(peer, stay.returning["transactions"].topic)
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        values = [b"%d from kafka " % number * 10 for number in range(20)]
        questions.send_all(peer, stay.returning["codecs"].topic, values, compression_type=codec)
    clean = _note(stay, folder / "clean", sequence=0)
    peer.stop()
    assert is_clean(peer.log_directory)
    shutil.copytree(peer.log_directory, clean.directory)
    unclean = replace(clean, directory=folder / "unclean")
    shutil.copytree(clean.directory, unclean.directory)
    make_unclean(unclean.directory)
    peer.start(topics=stay.topics)
    crashed = _note(stay, folder / "crashed", sequence=5)
    peer.kill()
    assert not is_clean(peer.log_directory)
    shutil.copytree(peer.log_directory, crashed.directory)
    for partition in stay.torn.values():
        with Path(partition.log.active.log.path).open("ab") as log:
            log.write(bytes(built(some_records(5)))[:100])
    put_in(stay.torn.values(), peer.log_directory, recovery_point=0)
    _tell_epochs(peer, list(stay.torn.values()))
    peer.start(topics=stay.topics)
    peer.stop()
    shutil.copytree(peer.log_directory, folder / "recovered")
    peer.start(topics=stay.topics)
    return Back({"clean": clean, "unclean": unclean, "crashed": crashed}, folder / "recovered")


def _note(stay: Stay, directory: Path, *, sequence: int) -> Returned:
    """Write a batch to every partition, and write down what Kafka then has."""
    peer = stay.peer
    topics = {kind: partition.topic for kind, partition in stay.returning.items()}
    visits = {kind: _visit(stay, topic, sequence) for kind, topic in topics.items()}
    return Returned(
        directory,
        {kind: questions.consume(peer, topic) for kind, topic in topics.items()},
        {
            kind: questions.consume(peer, topic, read_committed=True)
            for kind, topic in topics.items()
        },
        {kind: questions.producers(peer, topic) for kind, topic in topics.items()},
        visits,
    )


def _visit(stay: Stay, topic: str, sequence: int) -> tuple[bytes, int]:
    records = keyed_records(5)
    for record in records:
        record.timestamp += stay.now_ms
    batch = bytes(built(records, sender=Sender(VISITOR, 0, sequence)))
    error, offset = questions.produce(stay.peer, topic, batch)
    assert error == ErrorCode.NONE
    return batch, offset
