"""The door to DuckDB for pipelines. While a run has its file open, nobody else can open it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import duckdb

from ottla.pipelines.sinks.database import listed, on_conflict
from ottla.pipelines.sinks.port import SinkRefused

_STAGED = "ottla_staged"
_ORDER = "_ottla_order"


class DuckDb:
    dialect = "DuckDB"

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: duckdb.DuckDBPyConnection | None = None

    def open(self) -> None:
        with self._refusals():
            self._connection = duckdb.connect(self._path)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        is_done = False
        try:
            with self._refusals():
                self._open.begin()
                yield
                self._open.commit()
            is_done = True
        finally:
            if not is_done:
                with contextlib.suppress(duckdb.Error):  # it may have ended by the error itself
                    self._open.rollback()

    @property
    def _open(self) -> duckdb.DuckDBPyConnection:
        assert self._connection is not None, "open() comes first"
        return self._connection

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._open.execute(statement, list(values)).fetchall()

    def columns(self, table: str) -> Mapping[str, str]:
        schema, _, name = table.rpartition(".")
        found = self.ask(
            "select column_name, data_type from duckdb_columns() where table_name = ? "
            "and schema_name = ? and database_name = current_database()",
            name,
            schema or "main",
        )
        return dict(found)

    def load(
        self, table: str, columns: Sequence[str], rows: Iterable[Any], *, key: Sequence[str]
    ) -> int:
        count = 0
        for batch in rows:
            self._insert(table, columns, batch, key)
            count += batch.num_rows
        return count

    def _insert(self, table: str, columns: Sequence[str], batch: Any, key: Sequence[str]) -> None:
        names = listed(columns)
        self._open.register(_STAGED, batch)
        self._open.execute(
            f"insert into {table} ({names}) select {names} from {_last_of_each(key)}"
            + on_conflict(columns, key)
        )
        self._open.unregister(_STAGED)

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as cause:
            raise SinkRefused(f"DuckDB {self._path}: {str(cause).splitlines()[0]}") from cause

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _last_of_each(key: Sequence[str]) -> str:
    """One insert may not change a row twice."""
    if not key:
        return _STAGED
    return (
        f"(select * from (select *, row_number() over () as {_ORDER} from {_STAGED}) "
        f"qualify row_number() over (partition by {listed(key)} order by {_ORDER} desc) = 1)"
    )
