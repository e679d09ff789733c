"""One log directory, used in turn by a real Kafka, by Ottla, by Kafka again and by Ottla again.

The journey is made once; the tests look at copies of the directory at its stations.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ottla.logtools.verify import verify
from ottla.storage.checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANED_UP_TO,
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
    TopicPartition,
    format_offsets,
    parse_clean_shutdown,
)
from ottla.storage.config import LogConfig
from ottla.storage.directories import LogDirectories
from ottla.storage.directory import DirectoryRefused, LogDirectory
from ottla.storage.disk import RealDisk
from ottla.storage.log import Log
from ottla.storage.properties import (
    META_PROPERTIES,
    format_meta_properties,
    parse_meta_properties,
)
from ottla.storage.threads import FileThreads
from tests.kafka import questions
from tests.kafka.peer import KafkaFailed, KafkaPeer
from tests.kafka.questions import Producer, producers_of
from tests.kafka.written import (
    INDEX_INTERVAL_BYTES,
    SEGMENT_BYTES,
    Seen,
    Sender,
    built,
    keyed_records,
    records_in,
)

ORDERS, LATEST, OFFSETS = "orders", "latest", "__consumer_offsets"
PARTITIONS = {(ORDERS, 0), (ORDERS, 1), (ORDERS, 2), (LATEST, 0), (OFFSETS, 0)}
GROUP = "readers"
COMMITTED = 3
VISITOR = 900_200  # a producer that writes to Ottla, and later to Kafka
_SIZES = {
    "segment.bytes": str(SEGMENT_BYTES),
    "index.interval.bytes": str(INDEX_INTERVAL_BYTES),
}
# The cleaner is not to run in the middle: what one asked is what the other must find.
_COMPACTED = _SIZES | {"cleanup.policy": "compact", "min.compaction.lag.ms": "3600000"}


@dataclass
class Known:
    """What Kafka said of every partition before it ended, and the directory that it left."""

    directory: Path
    records: dict[TopicPartition, list[Seen]]
    ends: dict[TopicPartition, int]
    leader_epochs: dict[TopicPartition, int]
    topic_ids: dict[str, bytes]
    producers: list[Producer]  # of the first partition of `orders`


@dataclass
class Journey:
    """The stations, and what was said on the way."""

    now_ms: int
    stopped: Known
    refusals_of_ottla: list[str]
    refusal_of_kafka: str
    appended: dict[TopicPartition, list[Seen]]
    left_by_ottla: Path
    found_by_kafka: Known
    start_of_kafka: str
    committed: int | None
    repeated: tuple[int, int]  # what Kafka answered to a batch that Ottla has
    killed: Known


@pytest.fixture(scope="module")
def journey(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    peer = KafkaPeer(classpath, tmp_path_factory.mktemp("whole"), {})
    try:
        yield _travel(peer, tmp_path_factory.mktemp("stations"))
    finally:
        peer.close()


def _travel(peer: KafkaPeer, folder: Path) -> Journey:
    # Producers that were silent for a day are forgotten, so the records have to be of today.
    now_ms = int(folder.stat().st_mtime * 1000)
    peer.start()
    questions.create_topics(peer, {ORDERS: _SIZES}, partitions=3)
    questions.create_topics(peer, {LATEST: _COMPACTED})
    _send_some(peer)
    questions.commit_offset(peer, GROUP, ORDERS, COMMITTED)
    stopped = _ask_all(peer, folder / "stopped")
    refusals = [_refusal(peer.log_directory, now_ms)]
    peer.stop()
    shutil.copytree(peer.log_directory, stopped.directory)

    directories = opened(peer.log_directory, now_ms)
    # Asking twice must not loosen the first one's grip.
    refusals.append(_refusal(peer.log_directory, now_ms))
    before = len(peer.output)
    with pytest.raises(KafkaFailed):
        peer.start()
    refusal_of_kafka = peer.output[before:]
    appended = _append(directories, stopped, now_ms)
    closed(directories)
    shutil.copytree(peer.log_directory, folder / "left-by-ottla")

    before = len(peer.output)
    peer.start(topics=[ORDERS, LATEST, OFFSETS])
    start_of_kafka = peer.output[before:]
    found = _ask_all(peer, folder / "found")
    committed = questions.committed_offset(peer, GROUP, ORDERS)
    repeated = questions.produce(peer, ORDERS, bytes(_visit(now_ms)))
    _send_some(peer)
    killed = _ask_all(peer, folder / "killed")
    peer.kill()
    shutil.copytree(peer.log_directory, killed.directory)
    return Journey(
        now_ms,
        stopped,
        refusals,
        refusal_of_kafka,
        appended,
        folder / "left-by-ottla",
        found,
        start_of_kafka,
        committed,
        repeated,
        killed,
    )


def _send_some(peer: KafkaPeer) -> None:
    values = [b"%d from kafka " % number * 10 for number in range(90)]
    questions.send_all(peer, ORDERS, values, batch_size=1000, enable_idempotence=True)
    questions.send_all(peer, LATEST, values, batch_size=1000, compression_type="lz4")


def _ask_all(peer: KafkaPeer, directory: Path) -> Known:
    topics = questions.topics(peer, [ORDERS, LATEST, OFFSETS])
    epochs = {
        (topic.name or "", partition.partition_index): partition.leader_epoch
        for topic in topics
        for partition in topic.partitions
    }
    return Known(
        directory,
        {each: questions.consume(peer, each[0], partition=each[1]) for each in epochs},
        {
            each: questions.offset_at(peer, each[0], questions.LATEST, partition=each[1])[1]
            for each in epochs
        },
        epochs,
        {topic.name or "": topic.topic_id for topic in topics},
        questions.producers(peer, ORDERS),
    )


def config_of(topic: str) -> LogConfig:
    if topic == OFFSETS:
        return LogConfig(compacts=True, deletes=False)
    return LogConfig(
        segment_bytes=SEGMENT_BYTES,
        index_interval_bytes=INDEX_INTERVAL_BYTES,
        compacts=topic == LATEST,
        deletes=topic != LATEST,
    )


def opened(path: Path, now_ms: int) -> LogDirectories:
    """The whole directory, as a broker opens it that takes over from Kafka."""
    meta = parse_meta_properties((path / META_PROPERTIES).read_bytes(), META_PROPERTIES)
    assert meta.cluster_id
    return LogDirectories.open(
        RealDisk(),
        [str(path)],
        config_of,
        broker_id=0,
        cluster_id=meta.cluster_id,
        now_ms=now_ms,
    )


def recovered(path: Path, now_ms: int) -> tuple[LogDirectories, int]:
    """The directory after its recovery, and how much of it had to be checked."""
    directories = opened(path, now_ms)
    checked: list[int] = []
    threads = FileThreads(2)
    directories.recover(threads, now_ms=now_ms, on_progress=checked.append)
    threads.close()
    return directories, sum(checked)


def closed(directories: LogDirectories, *, broker_epoch: int = -1) -> None:
    threads = FileThreads(2)
    directories.close(threads, broker_epoch=broker_epoch)
    threads.close()
    assert directories.offline == {}


def only(directories: LogDirectories) -> LogDirectory:
    (directory,) = directories.online.values()
    return directory


def logs_of(directories: LogDirectories, now_ms: int) -> dict[TopicPartition, Log]:
    directory = only(directories)
    return {each: directory.log(each, now_ms=now_ms) for each in directory.folders}


def _refusal(path: Path, now_ms: int) -> str:
    with pytest.raises(DirectoryRefused) as refused:
        opened(path, now_ms)
    return str(refused.value)


def _visit(now_ms: int) -> memoryview:
    records = keyed_records(5)
    for record in records:
        record.timestamp += now_ms
    return built(records, sender=Sender(VISITOR, 0, 0))


def _append(
    directories: LogDirectories, known: Known, now_ms: int
) -> dict[TopicPartition, list[Seen]]:
    """What Ottla adds as the leader of three partitions; the other two it does not even open."""
    appended: dict[TopicPartition, list[Seen]] = {}
    for partition in [(ORDERS, 0), (ORDERS, 2), (LATEST, 0)]:
        log = only(directories).log(partition, now_ms=now_ms)
        end, epoch = log.next_offset, known.leader_epochs[partition]
        log.append(_visit(now_ms), leader_epoch=epoch, now_ms=now_ms)
        for _ in range(30):  # enough to roll segments
            log.append(built(keyed_records(10)), leader_epoch=epoch, now_ms=now_ms)
        log.commit()
        log.advance_high_watermark(log.next_offset)
        appended[partition] = [each for each in records_in(log) if each.offset >= end]
    return appended


def copy(directory: Path, to: Path) -> Path:
    return Path(shutil.copytree(directory, to / "data"))


def test_ottla_finds_a_stopped_kafka_s_partitions_without_opening_them(
    journey: Journey, tmp_path: Path
) -> None:
    known, now_ms = journey.stopped, journey.now_ms
    directory = only(opened(copy(known.directory, tmp_path), now_ms))
    assert directory.was_clean
    assert set(directory.folders) == PARTITIONS
    assert {each: directory.end_offset(each, now_ms=now_ms) for each in PARTITIONS} == known.ends
    assert directory.checkpoints.high_watermarks == known.ends
    for topic, number in PARTITIONS:
        assert directory.topic_id((topic, number)) == known.topic_ids[topic]


def test_ottla_reads_all_that_a_stopped_kafka_had(journey: Journey, tmp_path: Path) -> None:
    known = journey.stopped
    logs = logs_of(opened(copy(known.directory, tmp_path), journey.now_ms), journey.now_ms)
    assert {each: records_in(log) for each, log in logs.items()} == known.records
    assert {each: log.next_offset for each, log in logs.items()} == known.ends
    assert {each: log.high_watermark for each, log in logs.items()} == known.ends
    assert producers_of(logs[ORDERS, 0]) == known.producers
    assert all(known.records.values())


def test_a_directory_that_ottla_only_opened_is_as_kafka_left_it(
    journey: Journey, tmp_path: Path
) -> None:
    before = journey.stopped.directory
    after = copy(before, tmp_path)
    directories = opened(after, journey.now_ms)
    logs_of(directories, journey.now_ms)
    marker = (before / CLEAN_SHUTDOWN).read_bytes()
    closed(directories, broker_epoch=parse_clean_shutdown(marker, CLEAN_SHUTDOWN))
    assert files_in(after) == files_in(before)


def files_in(directory: Path) -> dict[str, list[bytes]]:
    """Every file's bytes; the checkpoints' lines sorted, since Kafka's are in a hash table's order.

    The lock file stays behind only with Ottla, and Kafka leaves a checkpoint that it never wrote
    without the two lines of an empty one.
    """
    files = {
        str(file.relative_to(directory)): [file.read_bytes()]
        for file in directory.rglob("*")
        if file.is_file() and file.name != ".lock"
    }
    for name in (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS, CLEANED_UP_TO):
        (data,) = files[name]
        files[name] = sorted((data or format_offsets({})).splitlines(keepends=True))
    return files


def test_ottla_writes_the_identity_as_kafka_does(journey: Journey) -> None:
    data = (journey.stopped.directory / META_PROPERTIES).read_bytes()
    meta = parse_meta_properties(data, META_PROPERTIES)
    written = format_meta_properties(meta, now_ms=journey.now_ms)
    dated = 1  # the line that says when
    lines, expected = written.splitlines(keepends=True), data.splitlines(keepends=True)
    del lines[dated], expected[dated]
    assert lines == expected


def test_what_ottla_left_is_sound(journey: Journey) -> None:
    report = verify(RealDisk(), str(journey.left_by_ottla))
    assert report.findings == []
    assert report.partitions == len(PARTITIONS)


def test_kafka_trusts_what_ottla_closed(journey: Journey) -> None:
    said = journey.start_of_kafka
    assert f"Skipping recovery of {len(PARTITIONS)} logs" in said
    assert "since clean shutdown file was found" in said
    assert "Recovering" not in said
    assert " ERROR " not in said


def test_kafka_serves_its_own_records_and_those_of_ottla(journey: Journey) -> None:
    assert len(journey.appended) == 3
    expected = {
        each: [*records, *journey.appended.get(each, [])]
        for each, records in journey.stopped.records.items()
    }
    assert journey.found_by_kafka.records == expected
    assert journey.found_by_kafka.topic_ids == journey.stopped.topic_ids


def test_a_group_goes_on_where_it_was(journey: Journey) -> None:
    assert journey.committed == COMMITTED


def test_kafka_recognises_what_was_sent_to_ottla(journey: Journey) -> None:
    assert journey.repeated == (0, journey.appended[ORDERS, 0][0].offset)


def test_ottla_recovers_all_that_a_killed_kafka_acknowledged(
    journey: Journey, tmp_path: Path
) -> None:
    known, now_ms = journey.killed, journey.now_ms
    directories, checked_bytes = recovered(copy(known.directory, tmp_path), now_ms)
    assert not only(directories).was_clean
    assert checked_bytes > 0
    logs = logs_of(directories, now_ms)
    assert {each: records_in(log) for each, log in logs.items()} == known.records
    assert {each: log.next_offset for each, log in logs.items()} == known.ends
    assert producers_of(logs[ORDERS, 0]) == known.producers


def test_what_ottla_recovered_is_sound_and_needs_no_more(journey: Journey, tmp_path: Path) -> None:
    path = copy(journey.killed.directory, tmp_path)
    directories, _ = recovered(path, journey.now_ms)
    closed(directories)
    assert verify(RealDisk(), str(path)).findings == []
    again, checked_bytes = recovered(path, journey.now_ms)
    assert only(again).was_clean
    assert checked_bytes == 0


def test_ottla_stays_out_while_another_holds_the_directory(journey: Journey) -> None:
    assert len(journey.refusals_of_ottla) == 2
    for refusal in journey.refusals_of_ottla:
        assert "is in use by another broker" in refusal


def test_kafka_stays_out_while_ottla_holds_the_directory(journey: Journey) -> None:
    said = journey.refusal_of_kafka
    assert "Failed to acquire lock on file .lock" in said
    assert "A Kafka instance in another process or thread is using this directory" in said
