"""Memory that the machine really has, before a run that fills much of it.

The host of a virtual machine takes free pages back. To get one again costs up to ten times what
writing a page does, and whichever broker happened to get them would pay for it.
"""

from __future__ import annotations

import mmap


def claim(size_bytes: int) -> None:
    """Touches so much and frees it: for the next seconds the kernel hands out these pages first."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)
    mmap.mmap(-1, max(1, size_bytes), flags=flags).close()
