"""So many in a second: how long to wait before the next."""

from __future__ import annotations

_BATCHES_PER_S = 10


class Pace:
    """None is as fast as it goes."""

    def __init__(self, per_s: float | None) -> None:
        self._per_s = per_s

    def wait_s(self, *, done: int, elapsed_s: float) -> float:
        """After `done` in all; who was late catches up, so that the average holds."""
        return 0.0 if self._per_s is None else max(0.0, done / self._per_s - elapsed_s)

    def at_once(self, most: int) -> int:
        """How many to take in one go, so that no wait is long and none comes in a rush."""
        if self._per_s is None:
            return most
        return max(1, min(most, int(self._per_s / _BATCHES_PER_S)))
