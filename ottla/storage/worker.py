"""The door to processes: one worker that compacts, so that appends keep their speed.

It is started by the first job, as a fresh interpreter and never by a fork, and ends by itself: when
it was idle for a while, or when its broker is gone.
"""

from __future__ import annotations

import socket
import subprocess
import sys

from ottla.storage.cleaning_job import (
    Advanced,
    Answer,
    Cancel,
    Channel,
    Cleaned,
    CleaningFailed,
    CleaningJob,
    Failure,
)

_PROCESS = "ottla.storage.cleaning_process"
_IDLE_S = 60.0
_LAST_WORDS_S = 5.0


class CleaningWorker:
    """One job at a time. Watch `fileno()` and call `receive` when it is readable."""

    def __init__(self, *, idle_s: float = _IDLE_S) -> None:
        self._idle_s = idle_s
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._job: CleaningJob | None = None

    @property
    def is_busy(self) -> bool:
        return self._job is not None

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process else None

    def fileno(self) -> int:
        """It changes with the process: -1 while there is none."""
        return self._channel.fileno() if self._channel else -1

    def submit(self, job: CleaningJob) -> None:
        assert self._job is None
        self._job = job
        self._send_job()

    def _send_job(self) -> None:
        assert self._job is not None
        while True:
            channel = self._channel or self._start()
            try:
                channel.send(self._job)
                return
            except EOFError:
                self._bury()  # it ended idle, just now

    def _start(self) -> Channel:
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-m", _PROCESS, str(number), str(self._idle_s)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[number],
                start_new_session=True,  # Ctrl-C is for the broker, which ends it in good order
            )
        self._channel = Channel(ours)
        return self._channel

    def receive(self, *, wait_s: float | None = 0) -> Answer | None:
        """The next answer; None if there is none yet. A worker that died is an answer, too."""
        if self._channel is None:
            return None
        try:
            answer = self._channel.receive(wait_s=wait_s)
        except EOFError:
            return self._ended()
        if answer is None:
            return None
        assert isinstance(answer, Advanced | Cleaned | CleaningFailed)
        if isinstance(answer, CleaningFailed) or (
            isinstance(answer, Cleaned) and answer.group.is_last
        ):
            self._job = None
        return answer

    def _ended(self) -> CleaningFailed | None:
        code = self._bury()
        if self._job is None:
            return None
        if code == 0:
            self._send_job()  # it had not seen the job when it ended idle
            return None
        job, self._job = self._job, None
        cause = f"signal {-code}" if code < 0 else f"exit code {code}"
        return CleaningFailed(job.number, Failure.WORKER_DIED, cause)

    def _bury(self) -> int:
        """Its end of the pair is closed, so it has ended, or is about to."""
        assert self._process is not None
        assert self._channel is not None
        self._channel.close()
        try:
            code = self._process.wait(timeout=_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # a disk that does not answer; what it leaves behind is harmless
            code = self._process.wait()
        self._process = self._channel = None
        return code

    def cancel(self) -> None:
        """The answer is a failure, or the last group if that was quicker."""
        if self._channel is not None and self._job is not None:
            try:
                self._channel.send(Cancel(self._job.number))
            except EOFError:
                return  # `receive` will say so

    def close(self) -> None:
        """Ends the worker, whatever it is doing; it removes what it had not finished."""
        if self._process is not None:
            self._bury()
        self._job = None
