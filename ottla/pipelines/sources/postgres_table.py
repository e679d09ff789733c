"""What is asked of a PostgreSQL table that is read in the order of a column that only grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import psycopg
from psycopg import sql
from pyspark.sql.types import StructField, StructType

from ottla.pipelines.declaration import Table
from ottla.pipelines.sources.postgres_types import GROWING, TIMES, asked

_ROWS_AT_A_TIME = 5_000
_COLUMNS = """
select a.attname, coalesce(b.typname, t.typname), case when b.oid is null then a.atttypmod
  else t.typtypmod end, a.attnotnull or c.relkind not in ('r', 'p'), a.atttypid::regtype::text
from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
  left join pg_type b on t.typtype = 'd' and b.oid = t.typbasetype
where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum
"""
# Of this database, without autovacuum's workers, who have no user.
_OPEN_TRANSACTIONS = """
select l.virtualxid, 'process ' || l.pid from pg_locks l join pg_stat_activity a using (pid)
where l.locktype = 'virtualxid' and l.virtualxid = l.virtualtransaction
  and l.pid <> pg_backend_pid() and a.datname = current_database() and a.usesysid is not null
union all
select gid, 'prepared transaction ' || gid from pg_prepared_xacts
where database = current_database()
"""
_NEWEST = """
select max(found.at)::text, (extract(epoch from statement_timestamp()) * 1000)::bigint
from (select {column} as at from {table} where {conditions} order by {column} {part}) as found
"""
_ROWS = "select {select}, {offset} from {table} where {conditions} order by {column}"
# A transaction takes its time just before it can be seen to be open.
_SETTLED_TIME = "{column} < statement_timestamp() - interval '1 second'"
_KEY_AS_OFFSET = "least(trunc({column}), 9223372036854775807)::bigint"
_TIME_AS_OFFSET = "(extract(epoch from {column}) * 1000000)::bigint"


class TableRefused(Exception):
    """It cannot be read as a stream; the message says why."""


class Seen(NamedTuple):
    position: str  # a value of the column, as text
    at_ms: int  # by the database's clock


class GrowingTable(NamedTuple):
    """The words of its queries, quoted by the database itself."""

    url: str
    table: str
    column: str
    type: str
    is_time: bool
    select: str

    def newest(
        self,
        connection: psycopg.Connection[Any],
        *,
        after: str,
        up_to: str | None,
        most: int | None,
    ) -> Seen | None:
        """The greatest value that is visible now, of all rows or the next `most`."""
        conditions = self._between(after=after, up_to=up_to)
        if self.is_time:
            conditions.append(_SETTLED_TIME.format(column=self.column))
        part = "desc limit 1" if most is None else f"limit {most}"
        query = self._query(_NEWEST, conditions, part=part)
        position, at_ms = _one(connection, query, {"after": after, "up_to": up_to})
        return None if position is None else Seen(position, at_ms)

    def rows(self, *, after: str, up_to: str) -> Iterator[list[tuple[Any, ...]]]:
        """Some at a time, each with its offset as the last value."""
        offset = (_TIME_AS_OFFSET if self.is_time else _KEY_AS_OFFSET).format(column=self.column)
        conditions = self._between(after=after, up_to=up_to)
        query = self._query(_ROWS, conditions, select=self.select, offset=offset)
        with (
            connect(self.url) as connection,
            connection.transaction(),
            connection.cursor("ottla", binary=True) as cursor,
        ):
            cursor.execute(query, {"after": after, "up_to": up_to})
            while rows := cursor.fetchmany(_ROWS_AT_A_TIME):
                yield rows

    def _between(self, *, after: str, up_to: str | None) -> list[str]:
        conditions = ["true"]
        if after:
            conditions.append(f"{self.column} > %(after)s::{self.type}")
        if up_to is not None:
            conditions.append(f"{self.column} <= %(up_to)s::{self.type}")
        return conditions

    def _query(self, template: str, conditions: list[str], **parts: str) -> bytes:
        parts |= {"conditions": " and ".join(conditions), "column": self.column}
        return template.format(table=self.table, **parts).encode()


class Described(NamedTuple):
    schema: StructType
    table: GrowingTable


def describe(source: Table) -> Described:
    try:
        with connect(source.database) as connection:
            return _describe(source, connection)
    except psycopg.Error as cause:
        raise TableRefused(f"table {source.table}: {str(cause).strip()}") from cause


def connect(url: str) -> psycopg.Connection[Any]:
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("set datestyle to iso")  # positions are kept as text
    return connection


def open_transactions(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """By names that none after them will have; and whose they are."""
    return dict(connection.execute(_OPEN_TRANSACTIONS).fetchall())


def _describe(source: Table, connection: psycopg.Connection[Any]) -> Described:
    name = _name(source, connection)
    columns = {row[0]: row for row in connection.execute(_COLUMNS, [name]).fetchall()}
    kind, type_name = _growing(source, columns)
    fields, expressions = [], []
    for column, type_of_column, modifier, *_ in columns.values():
        wanted = asked(type_of_column, modifier)
        fields.append(StructField(column, wanted.type))
        expressions.append(wanted.expression.replace("{}", _quoted(column)))
    table = GrowingTable(
        url=source.database,
        table=_escaped(name),
        column=_quoted(source.column),
        type=type_name,
        is_time=kind in TIMES,
        select=", ".join(expressions),
    )
    return Described(StructType(fields), table)


def _name(source: Table, connection: psycopg.Connection[Any]) -> str:
    query = "select pg_is_in_recovery(), to_regclass(%s)::text"
    is_standby, name = _one(connection, query.encode(), [source.table])
    if is_standby:
        why = "it does not know what its primary's transactions may still add; read the primary"
        raise TableRefused(f"table {source.table}: the database is a standby: {why}")
    if name is None:
        raise TableRefused(f"there is no table {source.table} in the database")
    assert isinstance(name, str)
    return name


def _growing(source: Table, columns: Mapping[str, tuple[Any, ...]]) -> tuple[str, str]:
    """The column's type, by its short and by its full name."""
    where = f"table {source.table}: column {source.column}"
    if source.column not in columns:
        raise TableRefused(f"{where} is not there. There are: {', '.join(columns)}")
    _, kind, _, is_filled, type_name = columns[source.column]
    if kind not in GROWING:
        raise TableRefused(
            f"{where} is {type_name}; to grow it must be one of {', '.join(GROWING)}"
        )
    if not is_filled:
        raise TableRefused(f"{where} may be null, and such rows would never be read: set not null")
    return kind, type_name


def _quoted(name: str) -> str:
    return _escaped(sql.Identifier(name).as_string())


def _escaped(text: str) -> str:
    """In queries with parameters, and in templates."""
    return text.replace("%", "%%")


def _one(connection: psycopg.Connection[Any], query: bytes, parameters: Any) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(query, parameters).fetchone()
    assert row is not None
    return row
