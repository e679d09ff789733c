"""The door to SQLite for pipelines: one file, written by one run at a time."""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ottla.pipelines.sinks.database import listed, on_conflict
from ottla.pipelines.sinks.port import SinkRefused

_WAIT_S = 30.0  # for whoever reads or writes the file at the moment


class Sqlite:
    dialect = "SQLite"

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def open(self) -> None:
        with self._refusals():
            # Spark calls us from threads of its own, one after the other.
            self._connection = sqlite3.connect(
                self._path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = full")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        is_done = False
        try:
            with self._refusals():
                self._open.execute("begin immediate")
                yield
                self._open.execute("commit")
            is_done = True
        finally:
            if not is_done and self._open.in_transaction:
                self._open.execute("rollback")

    @property
    def _open(self) -> sqlite3.Connection:
        assert self._connection is not None, "open() comes first"
        return self._connection

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._open.execute(statement, values).fetchall()

    def columns(self, table: str) -> Mapping[str, str]:
        return dict(self.ask("select name, type from pragma_table_info(?)", table))

    def load(
        self, table: str, columns: Sequence[str], rows: Iterable[Any], *, key: Sequence[str]
    ) -> int:
        places = ", ".join("?" * len(columns))
        statement = (
            f"insert into {table} ({listed(columns)}) values ({places}){on_conflict(columns, key)}"
        )
        count = 0
        for batch in rows:
            values = [_values(column) for column in batch.columns]
            self._open.executemany(statement, zip(*values, strict=True))
            count += batch.num_rows
        return count

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as cause:
            raise SinkRefused(f"SQLite {self._path}: {cause}") from cause

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _utc(moment: datetime.datetime) -> str:
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC)
    return moment.isoformat(" ", "microseconds")


_WRITTEN: dict[Callable[[Any], bool], Callable[[Any], Any]] = {
    pa.types.is_decimal: str,
    pa.types.is_date: datetime.date.isoformat,
    pa.types.is_timestamp: _utc,
    pa.types.is_time: datetime.time.isoformat,
    pa.types.is_duration: datetime.timedelta.total_seconds,
}


def _values(column: Any) -> list[Any]:
    """What SQLite has no type for, as text that sorts as it should, or as seconds."""
    values: list[Any] = column.to_pylist()
    for is_such, write in _WRITTEN.items():
        if is_such(column.type):
            return [None if value is None else write(value) for value in values]
    return values
