"""The cleaning worker of a simulation: the same work, done at once in this process."""

from __future__ import annotations

from collections import deque

from ottla.storage.cleaner import clean
from ottla.storage.cleaning_job import Answer, Cleaned, CleaningFailed, CleaningJob, Failure
from ottla.storage.files import CorruptLog, Disk, DiskFailed


class InlineCleaner:
    """Answers wait until they are asked for, as those of the process do."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._answers: deque[Answer] = deque()

    def submit(self, job: CleaningJob) -> None:
        try:
            for group in clean(
                self._disk,
                job.folder,
                job.plan,
                now_ms=job.now_ms,
                throttle=lambda size_bytes: None,
                progress=lambda done, total: None,
            ):
                self._answers.append(Cleaned(job.number, group))
            if not self._answers:
                self._answers.append(CleaningFailed(job.number, Failure.UNSETTLED, ""))
        except CorruptLog as error:
            self._answers.append(CleaningFailed(job.number, Failure.CORRUPT_LOG, str(error)))
        except DiskFailed as error:
            self._answers.append(CleaningFailed(job.number, Failure.DISK_FAILED, str(error)))
        except OSError as error:
            self._answers.append(CleaningFailed(job.number, Failure.OS_ERROR, str(error)))

    def receive(self) -> Answer | None:
        return self._answers.popleft() if self._answers else None

    def cancel(self) -> None:
        """Too late: all is done already, and the answers say so."""

    def close(self) -> None:
        self._answers.clear()
