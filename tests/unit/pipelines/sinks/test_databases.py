"""The databases that need no server, on Arrow's batches."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from ottla.pipelines.declaration import DatabaseTable
from ottla.pipelines.sinks.database import Database, DatabaseSink
from ottla.pipelines.sinks.duck import DuckDb
from ottla.pipelines.sinks.port import SinkRefused
from ottla.pipelines.sinks.sqlite import Sqlite

MAKERS: list[Callable[[str], Database]] = [Sqlite, DuckDb]


@pytest.fixture(params=MAKERS)
def database(request: pytest.FixtureRequest) -> Database:
    made: Database = request.param(":memory:")
    made.open()
    return made


def rows(**columns: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def broken() -> Iterator[pa.RecordBatch]:
    yield rows(id=[7])
    raise ZeroDivisionError


def test_rows_are_added(database: Database) -> None:
    database.ask("create table t (id bigint, name text)")
    count = database.load(
        '"t"', ["id", "name"], [rows(id=[1, 2], name=["a", None]), rows(id=[1], name=["c"])], key=[]
    )
    assert count == 3
    assert database.ask("select * from t order by id, name") == [(1, "a"), (1, "c"), (2, None)]


def test_the_last_row_of_a_key_stays(database: Database) -> None:
    database.ask("create table t (id bigint primary key, name text)")
    first = rows(id=[1, 2, 1], name=["a", "b", "c"])
    second = rows(id=[2, 3, 3], name=["d", "e", "f"])
    with database.transaction():
        assert database.load('"t"', ["id", "name"], [first, second], key=["id"]) == 6
    assert database.ask("select * from t order by id") == [(1, "c"), (2, "d"), (3, "f")]


def test_rows_that_are_nothing_but_key_are_kept_once(database: Database) -> None:
    database.ask("create table t (a bigint, b text, primary key (a, b))")
    batch = rows(a=[1, 1, 2], b=["x", "x", "x"])
    database.load('"t"', ["a", "b"], [batch, batch], key=["a", "b"])
    assert database.ask("select count(*) from t") == [(2,)]


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    database.ask("create table t (id bigint primary key)")
    with pytest.raises(SinkRefused, match=r"(?i)constraint"), database.transaction():
        database.load('"t"', ["id"], [rows(id=[1, 1])], key=[])
    with pytest.raises(ZeroDivisionError), database.transaction():
        database.load('"t"', ["id"], broken(), key=[])
    with database.transaction():
        assert database.load('"t"', ["id"], [rows(id=[1])], key=[]) == 1
    assert database.ask("select id from t") == [(1,)]


def test_a_table_that_is_not_there_has_no_columns(database: Database) -> None:
    assert database.columns("missing") == {}
    database.ask('create table "here" (a bigint)')
    assert {name: kind.lower() for name, kind in database.columns("here").items()} == {
        "a": "bigint"
    }


def test_a_batch_is_claimed_once(database: Database) -> None:
    sink = DatabaseSink(database, DatabaseTable("", "t"), app="flow.0")
    sink.open()
    assert sink.last_batch() == -1
    sink._claim(4)
    assert sink.last_batch() == 4
    with pytest.raises(SinkRefused, match=r"has batch 4 of flow\.0 already: another run"):
        sink._claim(4)
    other = DatabaseSink(database, DatabaseTable("", "t"), app="flow.1")
    assert other.last_batch() == -1


def test_sqlite_keeps_what_it_has_no_type_for_as_text_or_seconds() -> None:
    database = Sqlite(":memory:")
    database.open()
    database.ask("create table t (a text, b text, c text, d text, e text, f real)")
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5, 6)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    database.load(
        '"t"',
        list("abcdef"),
        [
            rows(
                a=[decimal.Decimal("1.50"), None],
                b=[moment.date(), None],
                c=[moment, None],
                d=pa.array([moment.replace(tzinfo=zone), None], pa.timestamp("us", "UTC")),
                e=[moment.time(), None],
                f=[datetime.timedelta(minutes=1.5), None],
            )
        ],
        key=[],
    )
    first, second = database.ask("select * from t")
    assert first == (
        "1.50",
        "2026-01-02",
        "2026-01-02 03:04:05.000006",
        "2026-01-02 01:04:05.000006+00:00",
        "03:04:05.000006",
        90.0,
    )
    assert second == (None,) * 6


def test_a_file_that_cannot_be_opened_is_named() -> None:
    for maker in MAKERS:
        with pytest.raises(SinkRefused, match="/nowhere/at/all"):
            maker("/nowhere/at/all").open()
