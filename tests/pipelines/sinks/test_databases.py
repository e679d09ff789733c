"""Into a table of each database, from frames."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines.declaration import DatabaseTable
from ottla.pipelines.sinks.database import Database, DatabaseSink
from ottla.pipelines.sinks.making import make_database
from ottla.pipelines.sinks.port import Batch, SinkRefused
from tests.pipelines.postgres import Postgres

EVERY_TYPE = """
    true as c_boolean, 1Y as c_byte, 2S as c_short, 3 as c_int, 4L as c_long,
    1.5F as c_float, 2.5D as c_double, cast(1.25 as decimal(38,18)) as c_decimal,
    'a%b?"c' as c_string, X'00ff' as c_binary, date'2026-01-02' as c_date,
    timestamp'2026-01-02 03:04:05.000006' as c_timestamp,
    timestamp_ntz'2026-01-02 03:04:05' as c_ntz, interval '90' second as c_interval,
    time'03:04:05' as c_time, array(1, null) as c_array, map('k', 1.5D) as c_map,
    named_struct('a', 1, 'b', 'x') as c_struct, parse_json('{"v": [1]}') as c_variant,
    null as c_void, 7 as `odd "name`
"""


@pytest.fixture(params=["PostgreSQL", "SQLite", "DuckDB"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "PostgreSQL":
        server: Postgres = request.getfixturevalue("postgres")
        return server.database()
    return f"{request.param.lower()}:{tmp_path / 'file.db'}"


class Table:
    def __init__(self, url: str, *key: str) -> None:
        self.place = DatabaseTable(url, "rows", key)

    @contextlib.contextmanager
    def sink(self, app: str = "flow.0") -> Iterator[DatabaseSink]:
        sink = DatabaseSink(make_database(self.place), self.place, app=app)
        sink.open()
        yield sink
        sink.close()

    @contextlib.contextmanager
    def opened(self) -> Iterator[Database]:
        database = make_database(self.place)
        database.open()
        with database.transaction():
            yield database
        database.close()

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        with self.opened() as database:
            return database.ask(statement)


def batch(number: int) -> Batch:
    return Batch(number, {}, tuple)


def pairs(spark: SparkSession, *rows: tuple[int, str]) -> DataFrame:
    return spark.createDataFrame(rows, "id long, name string").coalesce(1)


def test_rows_are_added_to_a_table_that_is_made(spark: SparkSession, url: str) -> None:
    table = Table(url)
    with table.sink() as sink:
        assert sink.last_batch() == -1
        assert sink.write(pairs(spark, (1, "a"), (1, "b")), batch(0)) == 2
        assert sink.write(pairs(spark, (2, "c")), batch(1)) == 1
    with table.sink() as sink:
        assert sink.last_batch() == 1
    with table.sink("flow.1") as sink:
        assert sink.last_batch() == -1
    assert table.ask("select * from rows order by name") == [(1, "a"), (1, "b"), (2, "c")]


def test_rows_of_the_same_key_are_replaced(spark: SparkSession, url: str) -> None:
    table = Table(url, "id")
    with table.sink() as sink:
        assert sink.write(pairs(spark, (1, "a"), (2, "b"), (1, "c")), batch(0)) == 3
        assert sink.write(pairs(spark, (2, "d"), (3, "e")), batch(1)) == 2
    assert table.ask("select * from rows order by id") == [(1, "c"), (2, "d"), (3, "e")]


def test_a_batch_that_fails_is_not_remembered(spark: SparkSession, url: str) -> None:
    table = Table(url)
    with table.sink() as sink:
        sink.write(pairs(spark, (1, "a")), batch(0))
        bad = spark.range(3).selectExpr("id", "if(id = 2, raise_error('broken'), 'x') as name")
        with pytest.raises(Exception, match="broken"):
            sink.write(bad, batch(1))
        assert sink.last_batch() == 0
        assert sink.write(pairs(spark, (2, "b")), batch(1)) == 1
    assert table.ask("select count(*) from rows") == [(2,)]


def test_a_second_run_that_wrote_the_batch_first_is_named(spark: SparkSession, url: str) -> None:
    with Table(url).sink() as sink:
        sink.write(pairs(spark, (1, "a")), batch(3))
        with pytest.raises(SinkRefused, match="another run of this pipeline took over"):
            sink.write(pairs(spark, (1, "a")), batch(3))


def test_a_table_that_does_not_fit_is_refused_with_every_reason(
    spark: SparkSession, url: str
) -> None:
    table = Table(url)
    with table.opened() as database:
        database.ask("create table rows (id text)")
    with (
        table.sink() as sink,
        pytest.raises(SinkRefused, match=r"(?s)'id' is .*; it has no column 'name': add it, as "),
    ):
        sink.write(pairs(spark, (1, "a")), batch(0))
    with (
        Table(url, "nobody").sink() as sink,
        pytest.raises(SinkRefused, match="column 'nobody', which the rows do not have"),
    ):
        sink.write(pairs(spark, (1, "a")), batch(0))


def test_every_type_is_written_and_fits_again(spark: SparkSession, url: str) -> None:
    table = Table(url)
    frame = spark.sql(f"select {EVERY_TYPE}")
    with table.sink() as sink:
        assert sink.write(frame, batch(0)) == 1
    with table.sink() as sink:
        assert sink.write(frame, batch(1)) == 1
    (row,) = table.ask(
        "select distinct c_long, c_double, c_string, cast(c_decimal as varchar(99)), c_binary, "
        "cast(c_date as varchar(99)), cast(c_ntz as varchar(99)), cast(c_time as varchar(99)), "
        'c_void, "odd ""name" from rows'
    )
    assert row[:3] == (4, 2.5, 'a%b?"c')
    assert row[3].rstrip("0") == "1.25"
    assert bytes(row[4]) == b"\x00\xff"
    assert [text[:19] for text in row[5:8]] == ["2026-01-02", "2026-01-02 03:04:05", row[7]]
    assert row[7].startswith("03:04:05")
    assert row[8:] == (None, 7)
    nested = table.ask("select c_array, c_map, c_struct, c_variant from rows")[0]
    told = [json.loads(value) if isinstance(value, str) else value for value in nested]
    assert told == [[1, None], {"k": 1.5}, {"a": 1, "b": "x"}, {"v": [1]}]


def test_moments_are_the_same_moments(spark: SparkSession, url: str) -> None:
    table = Table(url)
    with table.sink() as sink:
        sink.write(spark.sql("select timestamp'2026-01-02 03:04:05+02:00' as moment"), batch(0))
    asked = {"p": "extract(epoch from moment)", "s": "unixepoch(moment)", "d": "epoch(moment)"}[
        url[0]
    ]
    assert float(table.ask(f"select {asked} from rows")[0][0]) == 1767315845.0


def test_a_password_is_not_told() -> None:
    place = DatabaseTable("postgresql://me:secret@127.0.0.1:1/shop", "rows")
    with pytest.raises(SinkRefused, match=r"PostgreSQL 127\.0\.0\.1:1/shop: ") as refused:
        make_database(place).open()
    assert "secret" not in str(refused.value)


def test_another_kind_of_database_is_refused_with_those_there_are() -> None:
    with pytest.raises(SinkRefused, match=r"mysql:… .* sqlite:FILE, duckdb:FILE"):
        make_database(DatabaseTable("mysql://x", "rows"))
