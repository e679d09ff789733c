"""The file threads: what would make the event loop wait for the disk runs here instead.

Fsync, opening many files, deletion, recovery and cold reads. The simulation runs them inline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Protocol, TypeVar

from ottla.protocol.errors import KafkaError
from ottla.storage.files import CorruptLog, DiskFailed

T = TypeVar("T")


class Background(Protocol):
    """Where work goes that may wait for the disk."""

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Start it soon. The future's callbacks run wherever the work ran, not on the loop."""

    def run_all(
        self, works: Sequence[Callable[[], T]], on_done: Callable[[T], None] | None = None
    ) -> list[T]:
        """Run all and wait: the results in the order of `works`, `on_done` for each as it ends.

        After a failure nothing more is begun, and the first failure in order is raised. `on_done`
        runs on the caller's thread.
        """

    def close(self) -> None:
        """Finish what was submitted."""


class FileThreads:
    """A few threads. Whoever submits keeps count: a log has at most one flush under way."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="ottla-files")

    def submit(self, work: Callable[[], T]) -> Future[T]:
        return self._pool.submit(work)

    def run_all(
        self, works: Sequence[Callable[[], T]], on_done: Callable[[T], None] | None = None
    ) -> list[T]:
        futures: list[Future[T]] = []
        failed: list[Future[T]] = []

        def stop_after_a_failure(ended: Future[T]) -> None:  # before its thread takes more work
            if not ended.cancelled() and ended.exception() is not None:
                failed.append(ended)
                for future in futures:
                    future.cancel()

        for work in works:
            if failed:
                break
            futures.append(self._pool.submit(work))
            futures[-1].add_done_callback(stop_after_a_failure)
        for future in as_completed(futures):
            if not future.cancelled() and future.exception() is None and on_done is not None:
                on_done(future.result())
        return [future.result() for future in futures if not (failed and future.cancelled())]

    def close(self) -> None:
        self._pool.shutdown()


class Inline:
    """No threads: the work is done when `submit` returns, so a simulation stays one sequence."""

    def submit(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(work())
        # Only what storage raises on purpose: a bug, or a simulated crash, stops everything here.
        except (OSError, DiskFailed, CorruptLog, KafkaError) as error:
            future.set_exception(error)
        return future

    def run_all(
        self, works: Sequence[Callable[[], T]], on_done: Callable[[T], None] | None = None
    ) -> list[T]:
        results = []
        for work in works:
            results.append(work())
            if on_done is not None:
                on_done(results[-1])
        return results

    def close(self) -> None:
        pass
