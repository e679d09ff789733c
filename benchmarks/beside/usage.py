"""What a family of processes has used, read from /proc: processor seconds and memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_USER_TIME = 11  # then system time, and both of the children that ended; counted after the name


def family(pids: Sequence[int]) -> list[int]:
    """These and all that they started."""
    found = list(pids)
    for pid in found:
        with suppress(FileNotFoundError, ProcessLookupError):
            for file in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, file.read_text().split())
    return found


def cpu_seconds(pids: Sequence[int]) -> float:
    ticks = 0
    for pid in family(pids):
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[_USER_TIME : _USER_TIME + 4]))
    return ticks / _TICKS


def resident_mb(pids: Sequence[int]) -> float:
    return _memory_mb(pids, "VmRSS")


def peak_mb(pids: Sequence[int]) -> float:
    return _memory_mb(pids, "VmHWM")


def _memory_mb(pids: Sequence[int], field: str) -> float:
    kilobytes = 0
    for pid in family(pids):
        with suppress(FileNotFoundError, ProcessLookupError):
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith(field):
                    kilobytes += int(line.split()[1])
    return kilobytes * 1024 / 1e6
