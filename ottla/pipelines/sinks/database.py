"""Into a table of a database, exactly once: rows and the batch's number in one transaction.

Which database it is, its adapter knows: `postgres.py`, `sqlite.py`, `duck.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ottla.pipelines.declaration import ALONG, DatabaseTable
from ottla.pipelines.schema import quoted_column
from ottla.pipelines.sinks.port import Batch, Guarantee, SinkRefused
from ottla.pipelines.sinks.sql_types import fits, is_nested, sql_type

PROGRESS = "ottla_progress"


class Database(Protocol):
    """Statements have ? where a value goes. Its errors come as SinkRefused."""

    dialect: str

    def open(self) -> None: ...
    def transaction(self) -> AbstractContextManager[None]:
        """Committed at its end; nothing of it lasts if it is left by an exception."""
        ...

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]: ...
    def columns(self, table: str) -> Mapping[str, str]:
        """Their types; none if there is no such table."""
        ...

    def load(
        self, table: str, columns: Sequence[str], rows: Iterable[Any], *, key: Sequence[str]
    ) -> int:
        """Arrow's batches. With a key the last row of each stays, else all are added."""
        ...

    def close(self) -> None: ...


class DatabaseSink:
    guarantee = Guarantee.EXACTLY_ONCE
    takes_offsets = False
    sees_rows = True

    def __init__(self, database: Database, place: DatabaseTable, *, app: str) -> None:
        self._database = database
        self._place = place
        self._app = app
        self._table = quoted(place.table)
        self._fitted: StructType | None = None

    def open(self) -> None:
        self._database.open()
        with self._database.transaction():
            self._database.ask(
                f"create table if not exists {PROGRESS} "
                "(app varchar(249) primary key, batch bigint not null)"
            )

    def last_batch(self) -> int:
        with self._database.transaction():
            found = self._database.ask(f"select batch from {PROGRESS} where app = ?", self._app)
        return int(found[0][0]) if found else -1

    def write(self, frame: DataFrame, batch: Batch) -> int:
        schema = frame.drop(*ALONG).schema
        with self._database.transaction():
            self._claim(batch.id)
            if schema != self._fitted:
                self._fit(schema)
            count = self._database.load(
                self._table, schema.names, batch.rows(_plain(frame)), key=self._place.key
            )
        self._fitted = schema
        return count

    def _claim(self, batch: int) -> None:
        """First of all, so that a second run of the same pipeline waits here, and then hears it."""
        claimed = self._database.ask(
            f"insert into {PROGRESS} (app, batch) values (?, ?) on conflict (app) do update "
            f"set batch = excluded.batch where {PROGRESS}.batch < excluded.batch returning batch",
            self._app,
            batch,
        )
        if not claimed:
            raise SinkRefused(
                f"table {self._place.table} has batch {batch} of {self._app} already: "
                "another run of this pipeline took over; this one has to end"
            )

    def _fit(self, schema: StructType) -> None:
        if missing := [name for name in self._place.key if name not in schema.names]:
            raise SinkRefused(
                f"table {self._place.table}: its key has the column {missing[0]!r}, which the rows "
                f"do not have. They have: {', '.join(schema.names)}"
            )
        existing = self._database.columns(self._place.table)
        if not existing:
            self._create(schema)
        elif wrong := list(self._mismatches(schema, existing)):
            raise SinkRefused(
                f"table {self._place.table} does not fit the rows: {'; '.join(wrong)}"
            )

    def _create(self, schema: StructType) -> None:
        dialect = self._database.dialect
        columns = [
            f"{quoted_name(field.name)} {sql_type(dialect, field.name, field.dataType)}"
            for field in schema.fields
        ]
        if self._place.key:
            columns.append(f"primary key ({listed(self._place.key)})")
        self._database.ask(f"create table {self._table} ({', '.join(columns)})")

    def _mismatches(self, schema: StructType, existing: Mapping[str, str]) -> Iterator[str]:
        dialect = self._database.dialect
        for field in schema.fields:
            wanted = sql_type(dialect, field.name, field.dataType)
            found = existing.get(field.name)
            if found is None:
                yield f"it has no column {field.name!r}: add it, as {wanted}"
            elif not fits(dialect, field.name, field.dataType, existing=found):
                yield f"column {field.name!r} is {found}, not {wanted}"

    def close(self) -> None:
        self._database.close()


def _plain(frame: DataFrame) -> DataFrame:
    """Nested columns as JSON, columns of nothing but null as text."""
    columns = []
    for field in frame.schema.fields:
        column = F.col(quoted_column(field.name))
        if is_nested(field.dataType):
            column = F.to_json(column)
        elif field.dataType.typeName() == "void":
            column = column.cast("string")
        columns.append(column.alias(field.name))
    return frame.select(*columns)


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quoted(table: str) -> str:
    """SCHEMA.TABLE or TABLE."""
    return ".".join(quoted_name(part) for part in table.split("."))


def listed(names: Iterable[str]) -> str:
    return ", ".join(quoted_name(name) for name in names)


def on_conflict(columns: Sequence[str], key: Sequence[str]) -> str:
    """The end of an insert that replaces rows of the same key; the same in all three."""
    if not key:
        return ""
    others = [quoted_name(name) for name in columns if name not in key]
    if not others:
        return f" on conflict ({listed(key)}) do nothing"
    changes = ", ".join(f"{name} = excluded.{name}" for name in others)
    return f" on conflict ({listed(key)}) do update set {changes}"
