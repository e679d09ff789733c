"""The program of the cleaning worker: `python -m ottla.storage.cleaning_process FD IDLE_SECONDS`.

It trusts its broker and outlives it by no more than one piece of a file.
"""

from __future__ import annotations

import gc
import math
import os
import socket
import sys
import time

from ottla.storage.cleaner import clean
from ottla.storage.cleaning_job import (
    Advanced,
    Cancel,
    Channel,
    Cleaned,
    CleaningFailed,
    CleaningJob,
    Failure,
)
from ottla.storage.disk import RealDisk
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.rate_limit import RateLimit

_NICENESS = 10
_SHOWN_STEPS = 200  # progress is told so often in one job, not for every piece


class _Cancelled(Exception):
    """The broker wants this job no more."""


class _Run:
    """One job, under way."""

    def __init__(self, channel: Channel, job: CleaningJob) -> None:
        self._channel = channel
        self._job = job
        self._limit = None
        if math.isfinite(job.bytes_per_second):
            self._limit = RateLimit(job.bytes_per_second)
        self._told_bytes = 0

    def run(self) -> None:
        job, is_settled = self._job, False
        try:
            for group in clean(
                RealDisk(),
                job.folder,
                job.plan,
                now_ms=job.now_ms,
                throttle=self._throttle,
                progress=self._progress,
            ):
                self._channel.send(Cleaned(job.number, group))
                is_settled = True
            if not is_settled:
                self._fail(Failure.UNSETTLED, "")
        except _Cancelled:
            self._fail(Failure.CANCELLED, "")
        except CorruptLog as error:
            self._fail(Failure.CORRUPT_LOG, str(error))
        except DiskFailed as error:
            self._fail(Failure.DISK_FAILED, str(error))
        except OSError as error:
            self._fail(Failure.OS_ERROR, str(error))

    def _fail(self, failure: Failure, detail: str) -> None:
        self._channel.send(CleaningFailed(self._job.number, failure, detail))

    def _throttle(self, size_bytes: int) -> None:
        if self._limit is not None:
            until_s = time.monotonic() + self._limit.spend(size_bytes, now_s=time.monotonic())
            while (left_s := until_s - time.monotonic()) > 0:
                self._listen(left_s)

    def _progress(self, done_bytes: int, total_bytes: int) -> None:
        self._listen(0)
        if (done_bytes - self._told_bytes) * _SHOWN_STEPS >= total_bytes:
            self._told_bytes = done_bytes
            self._channel.send(Advanced(self._job.number, done_bytes, total_bytes))

    def _listen(self, wait_s: float) -> None:
        message = self._channel.receive(wait_s=wait_s)
        if isinstance(message, Cancel) and message.number == self._job.number:
            raise _Cancelled


def serve(channel: Channel, *, idle_s: float) -> None:
    """Job after job, until there is none for a while or nobody left to ask for one."""
    try:
        while (message := channel.receive(wait_s=idle_s)) is not None:
            if isinstance(message, CleaningJob):  # a cancel may come when its job has just ended
                _Run(channel, message).run()
    except EOFError:
        return


def main() -> None:
    descriptor, idle_s = sys.argv[1:]
    os.nice(_NICENESS)
    gc.disable()  # millions of short-lived tuples and no cycles: looking for some takes a fifth
    serve(Channel(socket.socket(fileno=int(descriptor))), idle_s=float(idle_s))


if __name__ == "__main__":
    main()
