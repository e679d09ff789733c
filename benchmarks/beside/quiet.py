"""Whether the host gives this machine the processors it asks for.

The kernel of a virtual machine counts the time that it wanted to run and was not let (steal). On a
busy host that is up to half of it, for minutes, and whose turn it is then looks slow. So a run
begins when little is taken, and is made again when much was: by the same rule for each broker.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path
from typing import NamedTuple, Self

BEARABLE = 0.05  # of what was asked for
ATTEMPTS = 5

_PATIENCE_S = 120
_PAUSE_S = 5
_PROBE_S = 0.5
_PROBE_BLOCK = bytes(1 << 20)


class Asked(NamedTuple):
    """Ticks of all processors since the machine's start."""

    used: int
    stolen: int

    @classmethod
    def read(cls, text: str | None = None) -> Self:
        text = text or Path("/proc/stat").read_text(encoding="ascii")
        user, nice, system, _idle, _wait, irq, soft_irq, stolen = map(int, text.split()[1:9])
        return cls(user + nice + system + irq + soft_irq, stolen)

    def stolen_until(self, later: Asked) -> float:
        """The share of what was asked for in between."""
        used, stolen = later.used - self.used, later.stolen - self.stolen
        return stolen / (used + stolen) if stolen else 0.0


def wait_until_quiet() -> None:
    """Or until it has lasted too long: what follows is measured all the same, and says it."""
    give_up = time.monotonic() + _PATIENCE_S
    while _probe() > BEARABLE and time.monotonic() < give_up:
        threading.Event().wait(_PAUSE_S)


def _probe() -> float:
    """What is taken from all processors at full load: without one nothing is."""
    before = Asked.read()
    threads = [threading.Thread(target=_keep_busy) for _ in range(os.cpu_count() or 1)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return before.stolen_until(Asked.read())


def _keep_busy() -> None:
    until = time.monotonic() + _PROBE_S
    while time.monotonic() < until:
        hashlib.sha256(_PROBE_BLOCK)  # without the interpreter's lock
