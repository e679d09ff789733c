"""Tables as streams, on a real PostgreSQL: nothing is lost or doubled, whoever commits late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructField, StructType

from ottla.pipelines.declaration import ORIGIN, Table
from ottla.pipelines.reading.origin import ORIGIN_SCHEMA
from ottla.pipelines.sources import postgres as source
from ottla.pipelines.sources.postgres import TableReader, TransactionsOpen, stream
from ottla.pipelines.sources.postgres_table import TableRefused, describe
from tests.pipelines.postgres import Postgres

Connection = psycopg.Connection[Any]
Readers = Callable[..., TableReader]
NOTHING = {"position": "", "seen_ms": 0}
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
ORDERS = "create table orders (id bigserial primary key, item text)"


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.database()


@pytest.fixture
def database(url: str) -> Iterator[Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_LOOKS", 2)


@pytest.fixture
def orders(database: Connection) -> Connection:
    database.execute(ORDERS)
    return database


def add(connection: Connection, *items: str) -> None:
    for item in items:
        connection.execute("insert into orders (item) values (%s)", [item])


@pytest.fixture
def reader_of(url: str) -> Iterator[Readers]:
    opened = []

    def open_reader(table: str = "orders", column: str = "id", at_once: int = 10) -> TableReader:
        declared = Table(url, table, column, at_once)
        found = describe(declared)
        options = source._to_options(declared, found.table)
        schema = StructType([*found.schema, StructField(ORIGIN, ORIGIN_SCHEMA)])
        opened.append(TableReader(options, schema))
        return opened[-1]

    yield open_reader
    for reader in opened:
        reader.stop()


def newest(reader: TableReader, start: dict[str, Any]) -> dict[str, Any]:
    return reader.latestOffset(start, reader.getDefaultReadLimit())


def rows(reader: TableReader, start: dict[str, Any], end: dict[str, Any]) -> list[dict[str, Any]]:
    parts = reader.partitions(start, end)
    return [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]


def ids(reader: TableReader, start: dict[str, Any], end: dict[str, Any]) -> list[int]:
    return [row["id"] for row in rows(reader, start, end)]


def test_rows_come_in_order_and_no_more_at_once_than_asked(
    orders: Connection, reader_of: Readers
) -> None:
    add(orders, "a", "b", "c")
    reader = reader_of(at_once=2)
    first = newest(reader, NOTHING)
    second = newest(reader, first)
    assert ids(reader, NOTHING, first) == [1, 2]
    assert ids(reader, first, second) == [3]
    assert newest(reader, second) == second
    assert reader.partitions(second, second) == []


def test_a_row_whose_transaction_ends_late_is_not_passed_over(
    orders: Connection, reader_of: Readers, url: str
) -> None:
    reader = reader_of()
    with psycopg.connect(url) as late:
        add(late, "taken first")
        add(orders, "seen first")
        assert newest(reader, NOTHING) == NOTHING
    end = newest(reader, NOTHING)
    assert ids(reader, NOTHING, end) == [1, 2]


def test_a_value_that_was_taken_long_before_its_row_is_waited_for(
    orders: Connection, reader_of: Readers, url: str
) -> None:
    reader = reader_of()
    with psycopg.connect(url) as late:
        late.execute("select nextval('orders_id_seq')")
        add(orders, "seen first")
        assert newest(reader, NOTHING) == NOTHING
        late.execute("insert into orders values (1, 'late')")
    assert ids(reader, NOTHING, newest(reader, NOTHING)) == [1, 2]


def test_transactions_that_begin_later_are_not_waited_for(
    orders: Connection, reader_of: Readers, url: str
) -> None:
    reader = reader_of()
    early = psycopg.connect(url)
    add(early, "early")
    add(orders, "seen")
    assert newest(reader, NOTHING) == NOTHING
    with psycopg.connect(url) as later:
        add(later, "later")
        early.commit()
        early.close()
        assert ids(reader, NOTHING, newest(reader, NOTHING)) == [1, 2]


def test_a_prepared_transaction_is_waited_for(
    orders: Connection, reader_of: Readers, url: str
) -> None:
    reader = reader_of()
    with psycopg.connect(url) as late:
        late.tpc_begin(late.xid(1, "late", "branch"))
        add(late, "late")
        late.tpc_prepare()
        add(orders, "seen first")
        assert newest(reader, NOTHING) == NOTHING
        late.tpc_commit()
    assert ids(reader, NOTHING, newest(reader, NOTHING)) == [1, 2]


def test_another_databases_transactions_do_not_matter(
    orders: Connection, reader_of: Readers, postgres: Postgres
) -> None:
    add(orders, "a")
    with psycopg.connect(postgres.database()) as other:
        other.execute("create table t (n int)")
        assert newest(reader_of(), NOTHING)["position"] == "1"


def test_a_single_run_says_whom_it_would_have_to_wait_for(
    orders: Connection, reader_of: Readers, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_LOOKS_OF_ONE_RUN", 2)
    with psycopg.connect(url) as late:
        add(late, "late")
        add(orders, "seen first")
        reader = reader_of()
        reader.prepareForTriggerAvailableNow()
        with pytest.raises(TransactionsOpen, match=f"process {late.info.backend_pid}; end them"):
            newest(reader, NOTHING)


def test_a_single_run_ends_where_the_table_ended_when_it_began(
    orders: Connection, reader_of: Readers
) -> None:
    add(orders, "a")
    reader = reader_of()
    reader.prepareForTriggerAvailableNow()
    add(orders, "b")
    end = newest(reader, NOTHING)
    assert ids(reader, NOTHING, end) == [1]
    assert newest(reader, end) == end


def test_a_single_run_of_an_empty_table_ends_at_once(
    orders: Connection, reader_of: Readers
) -> None:
    reader = reader_of()
    reader.prepareForTriggerAvailableNow()
    add(orders, "a")
    assert newest(reader, NOTHING) == NOTHING


def test_times_are_read_with_all_that_are_equal_but_not_those_of_this_second(
    database: Connection, reader_of: Readers
) -> None:
    database.execute("create table log (id int, at timestamptz not null default now())")
    reader = reader_of(table="log", column="at", at_once=2)
    database.execute("insert into log values (1, '2026-01-01 00:00Z'), (2, '2026-01-01 02:00+02')")
    database.execute("insert into log values (3, '2026-01-01 00:00Z'), (4, '2026-01-01 00:00:01Z')")
    database.execute("insert into log (id) values (5)")
    database.execute("insert into log values (6, 'infinity')")
    first = newest(reader, NOTHING)
    found = rows(reader, NOTHING, first)
    assert sorted(row["id"] for row in found) == [1, 2, 3]
    assert [row[ORIGIN]["timestamp"] for row in found] == [NEW_YEAR] * 3
    assert [row[ORIGIN]["offset"] for row in found] == [int(NEW_YEAR.timestamp()) * 1_000_000] * 3
    second = newest(reader, first)
    assert ids(reader, first, second) == [4]
    assert newest(reader, second) == second


def test_names_of_any_kind_are_quoted(database: Connection, reader_of: Readers) -> None:
    database.execute('create schema "My.Shop"')
    database.execute(b'create table "My.Shop"."100%{}""" ("%s {}" int not null, "a""b" int)')
    database.execute(b'insert into "My.Shop"."100%{}""" values (7, 8)')
    reader = reader_of(table='"My.Shop"."100%{}"""', column="%s {}")
    (row,) = rows(reader, NOTHING, newest(reader, NOTHING))
    assert (row["%s {}"], row['a"b']) == (7, 8)


@pytest.mark.parametrize(
    ("table", "column", "why"),
    [
        ("nowhere", "id", "there is no table nowhere"),
        ("orders", "number", "column number is not there. There are: id, item, at"),
        ("orders", "item", "column item is text; to grow it must be one of int2"),
        ("orders", "at", "column at may be null, and such rows would never be read"),
    ],
)
def test_what_cannot_be_read_in_order_is_refused(
    orders: Connection, url: str, table: str, column: str, why: str
) -> None:
    orders.execute("alter table orders add column at timestamptz")
    with pytest.raises(TableRefused, match=why):
        describe(Table(url, table, column))


def test_a_database_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(TableRefused, match=r"table orders: .*port 1 failed") as refused:
        describe(Table("postgresql://me:secret@127.0.0.1:1/shop", "orders", "id"))
    assert "secret" not in str(refused.value)


def collected(spark: SparkSession, table: Table, checkpoint: Path) -> dict[int, list[Row]]:
    """A single run; what each batch held."""
    batches: dict[int, list[Row]] = {}

    def keep(frame: DataFrame, number: int) -> None:
        batches[number] = frame.collect()

    writer = stream(spark, table).writeStream.foreachBatch(keep).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    assert query.awaitTermination(120)
    return batches


def test_a_stream_goes_on_where_it_was_and_repeats_a_batch_as_it_was(
    spark: SparkSession, orders: Connection, url: str, tmp_path: Path
) -> None:
    add(orders, "a", "b", "c")
    table = Table(url, "orders", "id", at_once=2)
    first = collected(spark, table, tmp_path)
    assert [[row.id for row in first[number]] for number in first] == [[1, 2], [3]]
    add(orders, "d")
    for name in ("commits/1", "commits/.1.crc"):
        (tmp_path / name).unlink()
    again = collected(spark, table, tmp_path)
    assert again[1] == first[1]
    assert [[row.id for row in again[number]] for number in again] == [[3], [4]]
    assert {(row._origin.topic, row._origin.offset) for row in again[2]} == {("orders", 4)}


def test_every_type_comes_as_sparks_own_or_as_text(
    spark: SparkSession, database: Connection, url: str, tmp_path: Path
) -> None:
    database.execute("create domain positive as numeric(10, 2) check (value > 0)")
    values = {
        "id int not null": "1",
        "small smallint": "2",
        "amount numeric(10, 2)": "12.34",
        "price positive": "5.10",
        "number numeric": "1.5",
        "ratio float8": "'NaN'",
        "is_paid bool": "true",
        "name varchar(10)": "'naïve'",
        "code char(3)": "'ab'",
        "data bytea": r"'\x00ff'",
        "day date": "'2026-01-01'",
        "at timestamptz": "'2026-01-01 02:00+02'",
        "local timestamp": "'2026-01-01 00:00'",
        "never timestamptz": "'infinity'",
        "tags text[]": "array['a', null]",
        "document jsonb": """'{"a": 1}'""",
        "key uuid": "'00000000-0000-0000-0000-000000000001'",
        "nothing text": "null",
    }
    database.execute(f"create table kinds ({', '.join(values)})".encode())
    database.execute(f"insert into kinds values ({', '.join(values.values())})".encode())
    ((row,),) = collected(spark, Table(url, "kinds", "id"), tmp_path).values()
    found = row.asDict()
    assert str(found.pop("ratio")) == "nan"
    assert [found.pop(name).astimezone(UTC) for name in ("at", "local")] == [NEW_YEAR] * 2
    assert found.pop(ORIGIN).offset == 1
    assert found == {
        "id": 1,
        "small": 2,
        "amount": Decimal("12.34"),
        "price": Decimal("5.10"),
        "number": Decimal("1.5"),
        "is_paid": True,
        "name": "naïve",
        "code": "ab ",
        "data": b"\0\xff",
        "day": date(2026, 1, 1),
        "never": None,
        "tags": ["a", None],
        "document": '{"a": 1}',
        "key": "00000000-0000-0000-0000-000000000001",
        "nothing": None,
    }
