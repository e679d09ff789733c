"""A real Kafka broker serves from folders that Ottla wrote what Ottla itself serves from them."""

from __future__ import annotations

import pytest

from ottla.storage.config import TimestampPolicy
from ottla.storage.disk import RealDisk
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from tests.kafka import questions
from tests.kafka.peer import run_tool
from tests.kafka.questions import EARLIEST, LATEST
from tests.kafka.stay import Stay
from tests.kafka.written import TOPICS, Partition, Seen, records_in

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
FETCH_BYTES = 700


def reopened(partition: Partition) -> Log:
    """The folder that Kafka got a copy of, with everything replicated."""
    log = open_log(
        RealDisk(),
        str(partition.folder),
        partition.config,
        Found(was_clean=True, log_start_offset=partition.log.log_start_offset),
        now_ms=partition.now_ms,
    )
    log.advance_high_watermark(log.next_offset)
    return log


@pytest.mark.parametrize("topic", TOPICS)
def test_a_consumer_gets_the_records_that_ottla_wrote(topic: str, stay: Stay) -> None:
    consumed = questions.consume(stay.peer, topic)
    assert consumed == stay.served[topic].records
    assert consumed == records_in(reopened(stay.served[topic]))


@pytest.mark.parametrize("topic", TOPICS)
def test_a_consumer_of_committed_records_gets_no_others(topic: str, stay: Stay) -> None:
    consumed = questions.consume(stay.peer, topic, read_committed=True)
    assert consumed == stay.served[topic].committed
    assert consumed == records_in(reopened(stay.served[topic]), read_committed=True)


@pytest.mark.parametrize("topic", ["codecs", "format-1-append-time", "transactions"])
def test_kafka_s_own_consumer_prints_the_records(topic: str, classpath: str, stay: Stay) -> None:
    partition = stay.served[topic]
    shown = ("timestamp", "offset", "headers", "key", "value")
    properties = [f"print.{name}=true" for name in shown] + ["null.literal=<null>"]
    options = [word for each in properties for word in ("--property", each)]
    printed = run_tool(
        classpath,
        CONSOLE_CONSUMER,
        *("--bootstrap-server", stay.peer.bootstrap, "--topic", topic, "--partition", "0"),
        *("--offset", "earliest", "--isolation-level", "read_committed"),
        *("--max-messages", str(len(partition.committed)), "--timeout-ms", "20000", *options),
    )
    is_append_time = partition.config.timestamp_policy is TimestampPolicy.LOG_APPEND_TIME
    kind = "LogAppendTime" if is_append_time else "CreateTime"
    assert printed.lines == [as_line(record, kind) for record in partition.committed]


def as_line(record: Seen, kind: str) -> str:
    def text(data: bytes | None) -> str:
        return "<null>" if data is None else data.decode()

    headers = ",".join(f"{name}:{text(value)}" for name, value in record.headers) or "NO_HEADERS"
    columns = (f"{kind}:{record.timestamp}", f"Offset:{record.offset}", headers)
    return "\t".join((*columns, text(record.key), text(record.value)))


@pytest.mark.parametrize("read_committed", [False, True])
@pytest.mark.parametrize("topic", TOPICS)
def test_a_fetch_from_any_offset_gets_the_same_bytes(
    topic: str, read_committed: bool, stay: Stay
) -> None:
    log = reopened(stay.served[topic])
    up_to = log.last_stable_offset if read_committed else log.next_offset
    for offset in range(log.log_start_offset, log.next_offset + 1):
        fetched = questions.fetch(
            stay.peer, topic, offset, max_bytes=FETCH_BYTES, read_committed=read_committed
        )
        found = log.read(offset, max_bytes=FETCH_BYTES, up_to=up_to)
        assert fetched.data == (found.read() if found else b"")
        if read_committed and found:
            aborted = log.aborted_transactions(found, offset)
            assert fetched.aborted == [(each.producer_id, each.first_offset) for each in aborted]


@pytest.mark.parametrize("topic", TOPICS)
def test_an_offset_is_found_by_its_time(topic: str, stay: Stay) -> None:
    log = reopened(stay.served[topic])
    times = {record.timestamp for record in stay.served[topic].records[::3]} | {stay.now_ms}
    for time in sorted(times - {-1}):
        for timestamp in (time - 1, time, time + 1):
            found = log.find_timestamp(timestamp) or (-1, -1)
            assert questions.offset_at(stay.peer, topic, timestamp) == found


@pytest.mark.parametrize("topic", TOPICS)
def test_the_partition_begins_and_ends_where_ottla_says(topic: str, stay: Stay) -> None:
    log = reopened(stay.served[topic])
    assert questions.offset_at(stay.peer, topic, EARLIEST)[1] == log.log_start_offset
    assert questions.offset_at(stay.peer, topic, LATEST)[1] == log.next_offset
    stable = questions.offset_at(stay.peer, topic, LATEST, read_committed=True)
    assert stable[1] == log.last_stable_offset


@pytest.mark.parametrize("topic", TOPICS)
def test_leader_epochs_end_where_ottla_says(topic: str, stay: Stay) -> None:
    log = reopened(stay.served[topic])
    latest = log.epochs.latest
    for epoch in range(latest.epoch + 1 if latest else 0):
        expected = log.epochs.end_offset_for(epoch, log_end_offset=log.next_offset)
        assert questions.epoch_end(stay.peer, topic, epoch) == tuple(expected)


@pytest.mark.parametrize("topic", TOPICS)
def test_kafka_knows_the_producers_that_ottla_knew(topic: str, stay: Stay) -> None:
    assert questions.producers(stay.peer, topic) == questions.producers_of(
        reopened(stay.served[topic])
    )
