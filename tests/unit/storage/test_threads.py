"""Background work ends the same way with threads and without."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from ottla.simulation.disk_faults import Crashed
from ottla.storage.files import CorruptLog
from ottla.storage.threads import Background, FileThreads, Inline


@pytest.fixture(params=["threads", "inline"])
def background(request: pytest.FixtureRequest) -> Iterator[Background]:
    background = FileThreads(4) if request.param == "threads" else Inline()
    yield background
    background.close()


def double(number: int) -> int:
    return 2 * number


def fail(why: str) -> int:
    raise CorruptLog("/log/a", 0, why)


def test_work_gives_its_result(background: Background) -> None:
    assert background.submit(partial(double, 21)).result(timeout=10) == 42


def test_a_failure_waits_in_the_future(background: Background) -> None:
    future = background.submit(partial(fail, "torn"))
    with pytest.raises(CorruptLog, match="torn"):
        future.result(timeout=10)


def test_who_asked_is_told_when_it_is_done(background: Background) -> None:
    told = threading.Event()
    background.submit(partial(double, 1)).add_done_callback(lambda _: told.set())
    assert told.wait(timeout=10)


def test_results_come_in_the_order_of_the_work(background: Background) -> None:
    done: list[int] = []
    works = [partial(double, number) for number in range(50)]
    assert background.run_all(works, done.append) == [2 * number for number in range(50)]
    assert sorted(done) == [2 * number for number in range(50)]


def test_no_work_is_done_at_once(background: Background) -> None:
    works: list[Callable[[], int]] = []
    assert background.run_all(works) == []


def test_the_first_failure_is_raised(background: Background) -> None:
    works = [partial(double, 1), partial(fail, "first"), partial(fail, "second")]
    with pytest.raises(CorruptLog, match="first"):
        background.run_all(works)


def test_after_a_failure_nothing_more_is_begun() -> None:
    threads = FileThreads(1)
    started: list[int] = []

    def note(number: int) -> int:
        started.append(number)
        return number

    works = [partial(fail, "torn"), *(partial(note, number) for number in range(1_000))]
    with pytest.raises(CorruptLog):
        threads.run_all(works)
    threads.close()
    # The one that was being handed over when the failure came may still run.
    assert len(started) <= 1


def test_the_threads_work_side_by_side() -> None:
    threads = FileThreads(3)
    meeting = threading.Barrier(3)
    # Each waits for the other two, so one after the other would never end.
    assert sorted(threads.run_all([partial(meeting.wait, 10)] * 3)) == [0, 1, 2]
    threads.close()


def test_inline_work_is_done_when_submit_returns() -> None:
    done: list[int] = []
    future = Inline().submit(partial(done.append, 1))
    assert future.done()
    assert done == [1]


@pytest.mark.parametrize("stop", [Crashed, AssertionError])
def test_a_crash_or_a_bug_stops_inline_work_at_once(stop: type[BaseException]) -> None:
    def work() -> None:
        raise stop

    with pytest.raises(stop):
        Inline().submit(work)
