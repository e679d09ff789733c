"""What the kernel offers beside plain files: reserved blocks, the page cache, locks, limits.

Linux has all of it; elsewhere a function does what it can, and says what is safe to believe.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import struct
import sys
from collections.abc import Callable

_KEEP_SIZE = 1  # FALLOC_FL_KEEP_SIZE
_WRITE = 2  # SYNC_FILE_RANGE_WRITE: start, do not wait
_MOST_DESCRIPTORS = 1 << 20  # where the hard limit is "unlimited", which no kernel means
_CHUNK = 256 * 1024
# Read-ahead and eviction work in larger steps than pages, so one byte in so many is proof enough.
_PROBE_EVERY = 64 * 1024

_Call = Callable[..., int]


def _find(argtypes: list[type], *names: str) -> _Call | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    for name in names:
        if (function := getattr(libc, name, None)) is not None:
            function.argtypes = argtypes
            function.restype = ctypes.c_int
            found: _Call = function
            return found
    return None


# struct flock: a lock for writing, from the start (0, 0) to the end (0), and no process id.
_WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)

_int, _int64 = ctypes.c_int, ctypes.c_int64
_fallocate = _find([_int, _int, _int64, _int64], "fallocate64", "fallocate")
_sync_file_range = _find([_int, _int64, _int64, ctypes.c_uint], "sync_file_range")
_malloc_trim = _find([ctypes.c_size_t], "malloc_trim")


def reserve_blocks(descriptor: int, *, position: int, length: int) -> bool:
    """Blocks for what will be written, the file's size as it was; False if nothing was done."""
    return _fallocate is not None and _fallocate(descriptor, _KEEP_SIZE, position, length) == 0


def start_write_back(descriptor: int, *, position: int, length: int) -> None:
    """Begin to write dirty pages, without waiting. It neither makes them last nor takes errors."""
    if _sync_file_range is not None:
        _sync_file_range(descriptor, position, length, _WRITE)


def is_cached(descriptor: int, *, position: int, length: int) -> bool:
    """Whether a read would not wait for the disk, as far as samples tell; True if none can."""
    if sys.platform != "linux" or length <= 0:
        return True
    probe = [bytearray(1)]
    last = position + length - 1
    try:
        for at in range(position, last, _PROBE_EVERY):
            os.preadv(descriptor, probe, at, os.RWF_NOWAIT)
        os.preadv(descriptor, probe, last, os.RWF_NOWAIT)
    except BlockingIOError:
        return False
    except OSError:  # this file system cannot tell
        return True
    return True


def read_ahead(descriptor: int, *, position: int, length: int) -> None:
    """Returns when the range is in the page cache."""
    if sys.platform == "linux":
        # All of it is asked for at once; reading then only waits for it.
        os.posix_fadvise(descriptor, position, length, os.POSIX_FADV_WILLNEED)
    scratch = memoryview(bytearray(min(length, _CHUNK)))
    end = position + length
    while position < end:
        count = os.preadv(descriptor, [scratch[: end - position]], position)
        if not count:
            break
        position += count


def sync_data(descriptor: int) -> None:
    """The data and whatever is needed to find it again, the size among it, but not the times."""
    if sys.platform == "darwin":
        # There fsync leaves the data in the drive's own cache; only this command empties it.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(descriptor)


def lock_file(descriptor: int) -> None:
    """Keeps out every other opener, in this process too, and Java's. BlockingIOError if too late.

    Lasts until the descriptor is closed.
    """
    if sys.platform == "linux":
        # Java's kind of lock, but the open file's own. The process's would fall as soon as any
        # other descriptor of the file is closed: that of a second opener just refused, say.
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _WHOLE_FILE)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def give_back_memory() -> None:
    """What was freed: the C library keeps tens of megabytes for each thread that once had them."""
    if _malloc_trim is not None:
        _malloc_trim(0)


def raise_descriptor_limit() -> int:
    """Lift RLIMIT_NOFILE to what the hard limit allows; returns the limit now in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # macOS has a lower limit of its own
        return soft
    return wanted
