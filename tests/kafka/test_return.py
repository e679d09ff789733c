"""Ottla takes back folders that a real Kafka went on with; Kafka recovers what Ottla left open."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ottla.logtools.verify import verify
from ottla.protocol.errors import ErrorCode
from ottla.storage.disk import RealDisk
from ottla.storage.flushing import close
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from tests.kafka import questions
from tests.kafka.log_directory import copy_partition, open_from
from tests.kafka.questions import producers_of
from tests.kafka.stay import TORN, Back, Returned, Stay
from tests.kafka.written import TOPICS, Sender, built, keyed_records, records_in, some_records

ENDS = ("clean", "unclean", "crashed")
every_kind = pytest.mark.parametrize("kind", TOPICS)
every_end = pytest.mark.parametrize("how", ENDS)


@pytest.fixture
def back(stay: Stay, returned: Back, how: str, kind: str, tmp_path: Path) -> Returned:
    """A copy that the test may write to."""
    end = returned.ends[how]
    copy_partition(end.directory, stay.returning[kind].topic, tmp_path / "data")
    return replace(end, directory=tmp_path / "data")


def opened(stay: Stay, back: Returned, kind: str) -> Log:
    partition = stay.returning[kind]
    return open_from(back.directory, partition.topic, partition.config, now_ms=stay.now_ms)


@every_end
@every_kind
def test_ottla_reads_everything_its_own_and_kafka_s(kind: str, stay: Stay, back: Returned) -> None:
    log = opened(stay, back, kind)
    records = records_in(log)
    assert records == back.records[kind]
    assert records[: len(stay.returning[kind].records)] == stay.returning[kind].records
    assert len(records) > len(stay.returning[kind].records)
    assert records_in(log, read_committed=True) == back.committed[kind]


@every_end
@every_kind
def test_ottla_knows_the_producers_that_kafka_knew(kind: str, stay: Stay, back: Returned) -> None:
    assert producers_of(opened(stay, back, kind)) == back.producers[kind]


@every_end
@every_kind
def test_ottla_recognises_what_was_sent_to_kafka(kind: str, stay: Stay, back: Returned) -> None:
    # Kafka 3.9 writes format 2 whatever was there; in an old one we would refuse the producer.
    newer = replace(stay.returning[kind].config, message_magic=2)
    topic = stay.returning[kind].topic
    log = open_from(back.directory, topic, newer, now_ms=stay.now_ms)
    end = log.next_offset
    batch, offset = back.visits[kind]
    again = log.append(memoryview(bytearray(batch)), leader_epoch=20, now_ms=stay.now_ms)
    assert (again.first_offset, again.group) == (offset, None)
    assert log.next_offset == end


@every_end
@every_kind
def test_ottla_goes_on_and_can_be_opened_again(kind: str, stay: Stay, back: Returned) -> None:
    log = opened(stay, back, kind)
    appended = log.append(built(keyed_records(3)), leader_epoch=20, now_ms=stay.now_ms)
    assert appended.first_offset == log.next_offset - 3
    close(log)
    again = opened(stay, back, kind)
    assert len(records_in(again)) == len(back.records[kind]) + 3
    assert producers_of(again) == back.producers[kind]


@every_end
@every_kind
def test_what_ottla_opened_and_closed_is_sound(kind: str, stay: Stay, back: Returned) -> None:
    close(opened(stay, back, kind))
    folder = back.directory / f"{stay.returning[kind].topic}-0"
    assert verify(RealDisk(), str(folder)).findings == []


@pytest.mark.parametrize("kind", TORN)
def test_ottla_and_kafka_recover_to_the_same_files(
    kind: str, stay: Stay, returned: Back, tmp_path: Path
) -> None:
    partition = stay.torn[kind]
    folder = tmp_path / partition.folder.name
    shutil.copytree(partition.folder, folder)
    found = Found(was_clean=False)
    close(open_log(RealDisk(), str(folder), partition.config, found, now_ms=stay.now_ms))
    assert files_of(folder) == files_of(returned.recovered / folder.name)


def files_of(folder: Path) -> dict[str, bytes]:
    """Those that a segment consists of. Only Ottla says that nothing was aborted in one."""
    files = [file for file in sorted(folder.glob("0*")) if file.suffix != ".snapshot"]
    contents = {file.name: file.read_bytes() for file in files}
    return {name: data for name, data in contents.items() if data or ".txnindex" not in name}


@pytest.mark.parametrize("kind", TORN)
@pytest.mark.usefixtures("returned")
def test_kafka_recovers_what_ottla_did_not_close(kind: str, stay: Stay) -> None:
    partition = stay.torn[kind]
    assert questions.consume(stay.peer, partition.topic) == partition.records
    committed = questions.consume(stay.peer, partition.topic, read_committed=True)
    assert committed == partition.committed
    assert questions.producers(stay.peer, partition.topic) == producers_of(partition.log)


@pytest.mark.usefixtures("returned")
def test_kafka_recognises_what_was_sent_to_ottla(stay: Stay) -> None:
    partition = stay.torn["idempotent"]
    last = partition.sends[-1]
    batch = built(some_records(len(last)), sender=Sender(900_001, 4, 0))
    assert questions.produce(stay.peer, partition.topic, bytes(batch)) == (0, last.start)
    gap = built(some_records(1), sender=Sender(900_001, 4, len(last) + 1))
    error, _ = questions.produce(stay.peer, partition.topic, bytes(gap))
    assert error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
