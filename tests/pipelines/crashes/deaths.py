"""Where a run is made to die: just before its sink commits a batch, or just after.

It dies by an exception, in the session that all tests share. To what is outside of this process
that is the same as its end: the transaction of a topic is left open (whoever comes next has to
fence it), a database's connection is closed without a commit, files stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pyspark.sql import DataFrame

from ottla.pipelines.folder import LocalFolder
from ottla.pipelines.sinks.database import DatabaseSink
from ottla.pipelines.sinks.delta import DeltaSink
from ottla.pipelines.sinks.duck import DuckDb
from ottla.pipelines.sinks.parquet import VERSIONS, ParquetSink
from ottla.pipelines.sinks.port import Batch
from ottla.pipelines.sinks.postgres import PostgreSql
from ottla.pipelines.sinks.sqlite import Sqlite
from ottla.pipelines.sinks.topic import TopicSink
from ottla.pipelines.sinks.transaction import OffsetsTransaction
from tests.pipelines.crashes.sinks import UnprotectedSink

SINKS: Sequence[Any] = (TopicSink, ParquetSink, DeltaSink, DatabaseSink, UnprotectedSink)
MESSAGE = "the process ends here"


class Died(Exception):
    def __init__(self) -> None:
        super().__init__(MESSAGE)


class Dying:
    """Patches every sink to die at one batch."""

    def __init__(self, patch: pytest.MonkeyPatch, *, batch: int) -> None:
        self._patch = patch
        self._batch = batch
        self._current = -1

    def after_commit(self) -> None:
        for sink in SINKS:
            self._patch.setattr(sink, "write", self._dies_after(sink.write))

    def before_commit(self) -> None:
        for sink in SINKS:
            self._patch.setattr(sink, "write", self._noting(sink.write))
        for database in (PostgreSql, Sqlite, DuckDb):
            whole: Any = database
            self._patch.setattr(database, "load", self._dies_after_call(whole.load))
        self._patch.setattr(UnprotectedSink, "commit", self._dies_after_call(lambda sink: None))
        self._patch.setattr(LocalFolder, "write", self._without_manifest(LocalFolder.write))
        self._patch.setattr(OffsetsTransaction, "run", self._without_end(OffsetsTransaction.run))
        self._patch.setattr(DeltaSink, "_append", self._files_only(DeltaSink._append))
        self._patch.setattr(DeltaSink, "_merge_rows", self._merge_files_only(DeltaSink._merge_rows))

    def _is_now(self) -> bool:
        return self._current == self._batch

    def _noting(self, write: Callable[..., int]) -> Callable[..., int]:
        def noting(sink: Any, frame: DataFrame, batch: Batch) -> int:
            self._current = batch.id
            return write(sink, frame, batch)

        return noting

    def _dies_after(self, write: Callable[..., int]) -> Callable[..., int]:
        def dying(sink: Any, frame: DataFrame, batch: Batch) -> int:
            count = write(sink, frame, batch)
            if batch.id == self._batch:
                raise Died
            return count

        return dying

    def _dies_after_call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def dying(*arguments: Any, **named: Any) -> Any:
            done = function(*arguments, **named)
            if self._is_now():
                raise Died
            return done

        return dying

    def _without_manifest(self, write: Callable[..., None]) -> Callable[..., None]:
        def dying(folder: LocalFolder, name: str, data: bytes) -> None:
            if self._is_now() and name.startswith(VERSIONS):
                raise Died
            write(folder, name, data)

        return dying

    def _without_end(self, run: Callable[..., int]) -> Callable[..., int]:
        def dying(transaction: Any, batch: Batch, put: Any) -> int:
            if self._is_now():
                transaction._producer = _NeverEnds(transaction._producer)
            return run(transaction, batch, put)

        return dying

    def _files_only(self, append: Callable[..., int]) -> Callable[..., int]:
        """What Delta leaves if it dies before it commits: files that no commit names."""

        def dying(sink: Any, frame: DataFrame, batch: Batch) -> int:
            if self._is_now():
                frame.write.mode("append").parquet(sink._path)
                raise Died
            return append(sink, frame, batch)

        return dying

    def _merge_files_only(self, merge: Callable[..., None]) -> Callable[..., None]:
        def dying(sink: Any, rows: DataFrame, batch: int) -> None:
            if self._is_now():
                rows.write.mode("append").parquet(sink._path)
                raise Died
            merge(sink, rows, batch)

        return dying


class _NeverEnds:
    """A producer whose transaction is neither committed nor aborted."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)

    def commit_transaction(self) -> None:
        self._producer.flush()
        raise Died

    def abort_transaction(self, _timeout: float) -> None: ...
