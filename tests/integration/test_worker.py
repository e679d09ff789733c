"""The cleaning worker as a real process: it works, it dies, and it never outlives its broker."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches
from ottla.storage.cleaning_job import (
    Advanced,
    Answer,
    Cleaned,
    CleaningFailed,
    CleaningJob,
    Failure,
)
from ottla.storage.cleaning_plan import CleaningPlan
from ottla.storage.retention import SegmentFacts
from ottla.storage.worker import CleaningWorker

BATCHES = 3_000
PATIENCE_S = 30.0


@pytest.fixture
def worker() -> Iterator[CleaningWorker]:
    worker = CleaningWorker(idle_s=PATIENCE_S)
    yield worker
    worker.close()


def job(folder: Path, *, number: int = 1, bytes_per_second: float = float("inf")) -> CleaningJob:
    """A log of 3 MB in which each of ten keys is written many times."""
    data = b"".join(
        build_batch([Record(n, 1_000 + n, b"key-%d" % (n % 10), bytes(1_000))])
        for n in range(BATCHES)
    )
    (folder / f"{0:020d}.log").write_bytes(data)
    plan = CleaningPlan(
        (SegmentFacts(0, len(data), 1_000),), 0, BATCHES, (), (), 1 << 20, 0, 1_000, 1 << 30,
        1 << 20, 4096,
    )  # fmt: skip
    return CleaningJob(number, str(folder), plan, 5_000, bytes_per_second)


def next_answer(worker: CleaningWorker) -> Answer:
    answer = worker.receive(wait_s=PATIENCE_S)
    assert answer is not None
    return answer


def last_answer(worker: CleaningWorker) -> Answer:
    while worker.is_busy:
        answer = next_answer(worker)
    return answer


def wait_for_end(process_id: int) -> None:
    descriptor = os.pidfd_open(process_id)
    try:
        assert select.select([descriptor], [], [], PATIENCE_S)[0]
    finally:
        os.close(descriptor)


needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux has pidfd")


def test_no_process_is_started_before_there_is_work(worker: CleaningWorker) -> None:
    assert worker.process_id is None
    assert worker.fileno() == -1
    assert worker.receive() is None


def test_a_job_comes_back_as_files(worker: CleaningWorker, tmp_path: Path) -> None:
    worker.submit(job(tmp_path))
    first = next_answer(worker)
    assert isinstance(first, Advanced)
    answer = last_answer(worker)
    assert isinstance(answer, Cleaned)
    assert (answer.number, answer.group.records_read, answer.group.records_kept) == (1, BATCHES, 10)
    data = (tmp_path / answer.group.files.names[0]).read_bytes()
    kept = [batch.base_offset for batch in read_batches(data)]
    assert kept == list(range(BATCHES - 10, BATCHES))


def test_the_worker_has_a_lower_priority_and_serves_job_after_job(
    worker: CleaningWorker, tmp_path: Path
) -> None:
    worker.submit(job(tmp_path))
    last_answer(worker)
    process_id = worker.process_id
    assert process_id is not None
    assert os.getpriority(os.PRIO_PROCESS, process_id) > os.getpriority(os.PRIO_PROCESS, 0)
    worker.submit(job(tmp_path, number=2))
    assert last_answer(worker).number == 2
    assert worker.process_id == process_id


def test_an_error_is_an_answer(worker: CleaningWorker, tmp_path: Path) -> None:
    spoilt = job(tmp_path)
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1])
    worker.submit(spoilt)
    answer = last_answer(worker)
    assert isinstance(answer, CleaningFailed)
    assert answer.failure is Failure.CORRUPT_LOG
    assert path.name in answer.detail
    path.unlink()
    worker.submit(spoilt)
    answer = last_answer(worker)
    assert isinstance(answer, CleaningFailed)
    assert answer.failure is Failure.OS_ERROR


def test_a_killed_worker_is_an_answer_and_the_job_can_be_tried_again(
    worker: CleaningWorker, tmp_path: Path
) -> None:
    worker.submit(job(tmp_path, bytes_per_second=1_000_000))
    next_answer(worker)
    assert worker.process_id is not None
    os.kill(worker.process_id, signal.SIGKILL)
    answer = last_answer(worker)
    assert answer == CleaningFailed(1, Failure.WORKER_DIED, "signal 9")
    (tmp_path / f"{0:020d}.log.cleaned").write_bytes(b"what it may have left behind")
    worker.submit(job(tmp_path, number=2))
    answer = last_answer(worker)
    assert isinstance(answer, Cleaned)
    assert answer.group.records_kept == 10


def test_a_cancelled_job_leaves_nothing_behind(worker: CleaningWorker, tmp_path: Path) -> None:
    worker.submit(job(tmp_path, bytes_per_second=100_000))
    worker.cancel()
    assert last_answer(worker) == CleaningFailed(1, Failure.CANCELLED, "")
    assert [path.name for path in tmp_path.iterdir()] == [f"{0:020d}.log"]


@needs_pidfd
def test_an_idle_worker_ends_and_the_next_job_starts_another(tmp_path: Path) -> None:
    worker = CleaningWorker(idle_s=0)
    try:
        worker.submit(job(tmp_path))
        while not isinstance(last_answer(worker), Cleaned):
            pass
        first = worker.process_id
        assert first is not None
        wait_for_end(first)
        assert worker.receive() is None
        assert worker.process_id is None
    finally:
        worker.close()


@needs_pidfd
def test_the_worker_ends_with_its_broker(tmp_path: Path) -> None:
    broker = subprocess.Popen(
        [sys.executable, "-c", _BROKER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with broker:
        assert broker.stdout is not None
        worker_id = int(broker.stdout.readline())
        broker.kill()
        wait_for_end(worker_id)
    assert [path.name for path in tmp_path.iterdir()] == [f"{0:020d}.log"]


_BROKER = """
import sys
from pathlib import Path
from tests.integration.test_worker import job
from ottla.storage.worker import CleaningWorker

worker = CleaningWorker()
worker.submit(job(Path(sys.argv[1]), bytes_per_second=100_000))
print(worker.process_id, flush=True)
while True:
    worker.receive(wait_s=None)
"""
