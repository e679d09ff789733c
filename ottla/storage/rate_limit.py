"""A limit in bytes per second: how long to wait after each piece, so that the sum keeps to it."""

from __future__ import annotations

_BURST_S = 0.3  # of idling that may be made up for


class RateLimit:
    """The caller brings the time, in seconds of any clock that only goes forward, and waits."""

    def __init__(self, bytes_per_second: float) -> None:
        assert bytes_per_second > 0
        self._bytes_per_second = bytes_per_second
        self._paid_until_s: float | None = None

    def spend(self, size_bytes: int, *, now_s: float) -> float:
        """Seconds to wait before going on; infinitely many bytes per second cost nothing."""
        earliest_s = now_s - _BURST_S
        paid_s = now_s if self._paid_until_s is None else max(self._paid_until_s, earliest_s)
        self._paid_until_s = paid_s + size_bytes / self._bytes_per_second
        return max(0.0, self._paid_until_s - now_s)
