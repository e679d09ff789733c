"""Times things side by side."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

ROUNDS = 25
ROUND_SECONDS = 0.02


def fastest_us(*functions: Callable[[], Any]) -> list[float]:
    """Microseconds of each: the best of interleaved rounds, so that a slow moment hits all."""
    number = max(1, int(ROUND_SECONDS / min(timeit.repeat(functions[0], number=10, repeat=3)) * 10))
    rounds = [[timeit.timeit(f, number=number) for f in functions] for _ in range(ROUNDS)]
    return [min(column) / number * 1e6 for column in zip(*rounds, strict=True)]
