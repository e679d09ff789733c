"""A started broker with what a scenario needs of it: fresh topics, drivers, what the run cost."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.beside import memory, usage
from benchmarks.beside.admin import Admin
from benchmarks.beside.quiet import Asked
from benchmarks.beside.stall import longest_between_ms, stalls
from benchmarks.beside.targets import Running, Target
from benchmarks.drivers import driver
from benchmarks.drivers.driver import Outcome
from benchmarks.drivers.frames import RawRequest

_GONE_WITHIN_S = 180
_POLL_S = 0.02


@dataclass(slots=True)
class Bench:
    running: Running
    admin: Admin
    folder: Path
    scale: float  # of the full amount of work
    outcomes: list[Outcome] = field(default_factory=list)  # of the drivers since the last take

    @contextmanager
    def fresh_topic(self, partitions: int = 1) -> Iterator[str]:
        """Its files are gone at the end: to free gigabytes must not be in the next run's way."""
        with self.admin.fresh_topic(partitions) as topic:
            yield topic
        give_up = time.perf_counter() + _GONE_WITHIN_S
        while any(self.folder.glob(f"data/{topic}-*")):
            if time.perf_counter() > give_up:
                raise TimeoutError(f"{topic} still has files after {_GONE_WITHIN_S} s")
            threading.Event().wait(_POLL_S)

    def amount(self, full: float) -> int:
        return max(1, int(full * self.scale))

    @property
    def is_quick(self) -> bool:
        """To see that all runs, not how fast."""
        return self.scale < 1

    def fill_memory(self) -> None:
        """Before a run that takes much of it."""
        if not self.is_quick:
            memory.fill()

    def client(self, mode: str, topic: str, **options: object) -> Outcome:
        """Underscores stand for the dots in the names of librdkafka's options."""
        named = {name.replace("_", "."): value for name, value in options.items()}
        return self._drive(
            "client", mode, {"bootstrap": self.running.bootstrap, "topic": topic, **named}
        )

    def raw(self, mode: str, request: RawRequest, **options: object) -> Outcome:
        frame = self.folder / "request.bin"
        frame.write_bytes(request.frame)
        host, port = self.admin.address
        places = {"head": request.head_bytes, "error-at": request.error_at}
        if request.offset_at:
            places["offset-at"] = request.offset_at
        if request.frames > 1:
            places["frames"] = request.frames
        return self._drive(
            "raw", mode, {"host": host, "port": port, "frame": frame, **places, **options}
        )

    def group(self, mode: str, group: str, **options: object) -> Outcome:
        """Underscores stand for the dashes in the driver's options."""
        host, port = self.admin.address
        named = {name.replace("_", "-"): value for name, value in options.items()}
        return self._drive("group", mode, {"host": host, "port": port, "group": group, **named})

    def take_outcomes(self) -> list[Outcome]:
        taken, self.outcomes = self.outcomes, []
        return taken

    def _drive(self, program: str, mode: str, options: dict[str, object]) -> Outcome:
        stalls_before = stalls(self.running.metrics_url)
        before, asked = usage.cpu_seconds(self.running.pids), Asked.read()
        outcome = driver.drive(program, mode, options)
        outcome["stolen"] = round(asked.stolen_until(Asked.read()), 3)
        outcome["broker_cpu_s"] = round(usage.cpu_seconds(self.running.pids) - before, 2)
        stalls_after = stalls(self.running.metrics_url)
        if stalls_before and stalls_after:
            outcome["longest_stall_ms"] = longest_between_ms(stalls_before, stalls_after)
        self.outcomes.append(outcome)
        return outcome


@contextmanager
def started(target: Target, folder: Path, *, scale: float) -> Iterator[Bench]:
    """The broker on this folder, which may hold what an earlier life left."""
    try:
        running = target.start(folder)
        yield Bench(running, Admin(running.bootstrap), folder, scale)
    finally:
        target.stop()


@contextmanager
def empty_folder() -> Iterator[Path]:
    path = tempfile.mkdtemp(prefix="ottla-bench-")
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path)
