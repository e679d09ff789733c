"""The sinks' door to PostgreSQL: rows go in by COPY."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import psycopg

from ottla.pipelines.sinks.database import listed, on_conflict, quoted
from ottla.pipelines.sinks.port import SinkRefused

_STAGED = '"ottla_staged"'
_ORDER = '"_ottla_order"'


class PostgreSql:
    dialect = "PostgreSQL"

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def open(self) -> None:
        with self._refusals():
            # Not of the text of each row, but all at once, as UTF-8.
            self._connection = psycopg.connect(self._url, client_encoding="utf8")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with self._refusals(), self._open.transaction():
            yield

    @property
    def _open(self) -> psycopg.Connection[tuple[Any, ...]]:
        assert self._connection is not None, "open() comes first"
        return self._connection

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        # A % in a column's name would be taken for a place of a value.
        text = statement.replace("%", "%%").replace("?", "%s") if values else statement
        cursor = self._open.execute(text.encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def columns(self, table: str) -> Mapping[str, str]:
        found = self.ask(
            "select attname, format_type(atttypid, atttypmod) from pg_attribute "
            "where attrelid = to_regclass(?) and attnum > 0 and not attisdropped",
            quoted(table),
        )
        return dict(found)

    def load(
        self, table: str, columns: Sequence[str], rows: Iterable[Any], *, key: Sequence[str]
    ) -> int:
        names = listed(columns)
        if not key:
            return self._copy(table, names, rows)
        self.ask(
            f"create temp table {_STAGED} on commit drop as select {names} from {table} limit 0"
        )
        self.ask(f"alter table {_STAGED} add column {_ORDER} bigserial")
        count = self._copy(_STAGED, names, rows)
        self.ask(
            f"insert into {table} ({names}) select distinct on ({listed(key)}) {names} "
            f"from {_STAGED} order by {listed(key)}, {_ORDER} desc" + on_conflict(columns, key)
        )
        return count

    def _copy(self, table: str, names: str, rows: Iterable[Any]) -> int:
        count = 0
        with (
            self._open.cursor() as cursor,
            cursor.copy(f"copy {table} ({names}) from stdin".encode()) as copy,
        ):
            for batch in rows:
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    copy.write_row(row)
                count += batch.num_rows
        return count

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as cause:
            raise SinkRefused(f"PostgreSQL {self._where()}: {str(cause).strip()}") from cause

    def _where(self) -> str:
        """Without the password."""
        parts = urlsplit(self._url)
        return f"{parts.hostname or 'localhost'}:{parts.port or 5432}{parts.path}"

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
