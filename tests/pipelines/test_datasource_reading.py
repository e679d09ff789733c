"""What a task of `format("ottla")` reads of a range, without Spark: records, gaps, losses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ottla.pipelines.datasource.options import read_options
from ottla.pipelines.datasource.planning import DataLost, Range
from ottla.pipelines.datasource.reading import ReadFailed, read
from ottla.pipelines.datasource.rows import UNREADABLE
from ottla.testing.broker import Broker
from tests.pipelines.topics import delete_before, fill, fill_raw, transact

COMMITTED = {"kafka.isolation.level": "read_committed"}


def rows(broker: Broker, wanted: Range, **options: str) -> list[dict[str, Any]]:
    given = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": wanted.topic, **options}
    return [
        row
        for batch in read(wanted, read_options(given, streaming=False))
        for row in batch.to_pylist()
    ]


def values(broker: Broker, wanted: Range, **options: str) -> list[str]:
    return [row["value"].decode() for row in rows(broker, wanted, **options)]


def numbers(start: int, end: int) -> list[str]:
    return [str(number) for number in range(start, end)]


def test_a_range_is_read_from_its_start_to_before_its_end(broker: Broker, ottla_topic: str) -> None:
    fill(broker.bootstrap, ottla_topic, numbers(0, 30_000))
    assert values(broker, Range(ottla_topic, 0, 5, 25_000)) == numbers(5, 25_000)


def test_a_record_has_all_that_the_connector_shows(broker: Broker, ottla_topic: str) -> None:
    pair = [("trace", b"\x00\xff"), ("empty", None)]
    time = datetime(2026, 1, 31, 8, 0, 0, 250_000, tzinfo=UTC)
    fill(
        broker.bootstrap,
        ottla_topic,
        [None],
        key=b"k",
        headers=pair,
        timestamp=int(time.timestamp() * 1000),
    )
    (row,) = rows(broker, Range(ottla_topic, 0, 0, 1), includeHeaders="true")
    assert row == {
        "key": b"k",
        "value": None,
        "topic": ottla_topic,
        "partition": 0,
        "offset": 0,
        "timestamp": time,
        "timestampType": 0,
        "headers": [{"key": "trace", "value": b"\x00\xff"}, {"key": "empty", "value": None}],
    }


def test_a_header_whose_name_is_no_text_does_not_stop_the_reader(
    broker: Broker, ottla_topic: str
) -> None:
    fill(broker.bootstrap, ottla_topic, ["before"], headers=[("h", b"1")])
    fill_raw(broker.bootstrap, ottla_topic, header=b"\xff\xfe")
    fill(broker.bootstrap, ottla_topic, ["after"], headers=[("h", b"2")])
    found = rows(broker, Range(ottla_topic, 0, 0, 3), includeHeaders="true")
    headers = [row["headers"][0] for row in found]
    assert headers[0] == {"key": "h", "value": b"1"}
    assert headers[1] == {"key": UNREADABLE, "value": None}
    assert headers[2] == {"key": "h", "value": b"2"}


def test_the_time_may_be_the_brokers(broker: Broker) -> None:
    stamped = {"message.timestamp.type": "LogAppendTime"}
    topic = broker.create_topic("stamped", configs=stamped)
    fill(broker.bootstrap, topic, ["one"], timestamp=1)
    (row,) = rows(broker, Range(topic, 0, 0, 1))
    assert row["timestampType"] == 1
    assert row["timestamp"].year > 2000


def test_aborted_records_and_markers_at_the_end_are_passed(
    broker: Broker, ottla_topic: str
) -> None:
    transact(broker.bootstrap, ottla_topic, ["a", "b"], commit=True)  # offsets 0, 1, marker 2
    transact(broker.bootstrap, ottla_topic, ["c", "d"], commit=False)  # 3, 4, marker 5
    whole = Range(ottla_topic, 0, 0, 6)
    assert values(broker, whole, **COMMITTED) == ["a", "b"]
    assert values(broker, whole) == ["a", "b", "c", "d"]
    assert values(broker, Range(ottla_topic, 0, 3, 5), **COMMITTED) == []
    assert values(broker, Range(ottla_topic, 0, 2, 3)) == []


def test_a_range_within_what_compaction_removed_is_empty() -> None:
    quick = {"log.cleaner.backoff.ms": 50, "log.cleaner.min.cleanable.ratio": 0.01}
    with Broker(quick) as broker:
        configs = {"cleanup.policy": "compact", "segment.bytes": 2000}
        topic = broker.create_topic("compacted", configs=configs)
        for _ in range(50):
            fill(broker.bootstrap, topic, ["v" * 100], key="same")
        wanted = Range(topic, 0, 0, 10)
        while values(broker, wanted):
            fill(broker.bootstrap, topic, ["v" * 100], key="same")
        assert all(row["offset"] >= 10 for row in rows(broker, Range(topic, 0, 0, 50)))


def test_records_of_a_megabyte_come_in_small_batches(broker: Broker) -> None:
    topic = broker.create_topic("large", configs={"max.message.bytes": 2_000_000})
    fill(broker.bootstrap, topic, ["v" * 900_000] * 40)
    given = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": topic}
    batches = list(read(Range(topic, 0, 0, 40), read_options(given, streaming=False)))
    assert sum(batch.num_rows for batch in batches) == 40


def test_records_deleted_after_the_plan_was_made_are_named(
    broker: Broker, ottla_topic: str
) -> None:
    fill(broker.bootstrap, ottla_topic, numbers(0, 20))
    delete_before(broker.bootstrap, ottla_topic, 8)
    wanted = Range(ottla_topic, 0, 3, 20)
    with pytest.raises(DataLost, match=f"{ottla_topic}-0: offsets 3 to 7: deleted before they"):
        rows(broker, wanted)
    assert values(broker, wanted, failOnDataLoss="false") == numbers(8, 20)
    assert values(broker, Range(ottla_topic, 0, 3, 6), failOnDataLoss="false") == []


def test_what_never_comes_is_waited_for_only_so_long(broker: Broker, ottla_topic: str) -> None:
    fill(broker.bootstrap, ottla_topic, numbers(0, 3))
    patience = {"kafkaConsumer.pollTimeoutMs": "300"}
    with pytest.raises(ReadFailed, match="offsets 0 to 8: nothing came for 300 ms"):
        rows(broker, Range(ottla_topic, 0, 0, 9), **patience)


def test_a_reader_that_is_left_early_does_not_disturb_the_next(
    broker: Broker, ottla_topic: str
) -> None:
    fill(broker.bootstrap, ottla_topic, numbers(0, 5_000))
    wanted = Range(ottla_topic, 0, 0, 5_000)
    given = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": ottla_topic}
    left = read(wanted, read_options(given, streaming=False))
    next(left)
    assert values(broker, wanted) == numbers(0, 5_000)
    left.close()  # type: ignore[attr-defined]
    assert values(broker, wanted) == numbers(0, 5_000)
