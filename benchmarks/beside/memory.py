"""Memory as a broker finds it that has run for long: full of files that nobody needs any more.

The host of a virtual machine takes free pages back. To get one again costs up to ten times what
writing a page does, and whichever broker happened to get them would pay for it: to write 2 GB took
0.4 s or up to 2.5. So nothing is left free, and a run takes what the kernel evicts for it.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from pathlib import Path

_MB = 1 << 20
_STEP_BYTES = 4 * _MB
_HARDLY_FREE_BYTES = 200 * _MB
_MORE_BYTES = 1024 * _MB  # the last that are free are those that the host has


def fill() -> None:
    """Until nothing is free. The first time takes up to a minute, others a second or two."""
    if sys.platform == "linux":
        os.sync()  # what one broker has left to write must not be in the other's way
        _ballast().read_on()


@functools.cache
def _ballast() -> _Ballast:
    return _Ballast()


class _Ballast:
    """A file without blocks, as large as the memory: reading it takes pages, but no disk."""

    def __init__(self) -> None:
        descriptor, path = tempfile.mkstemp(prefix="ottla-bench-")
        os.unlink(path)
        self._descriptor = descriptor
        self._size_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self._position = 0
        os.truncate(descriptor, self._size_bytes)

    def read_on(self) -> None:
        """Until nothing is free, from where the last time ended: what is oldest is evicted."""
        more_bytes = 0
        for _ in range(0, self._size_bytes, _STEP_BYTES):
            if _free_bytes() < _HARDLY_FREE_BYTES:
                more_bytes += _STEP_BYTES
                if more_bytes > _MORE_BYTES:
                    break
            os.posix_fadvise(self._descriptor, self._position, _STEP_BYTES, os.POSIX_FADV_WILLNEED)
            self._position = (self._position + _STEP_BYTES) % self._size_bytes


def _free_bytes() -> int:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemFree"))
