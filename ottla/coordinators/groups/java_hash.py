"""Which partition of the offsets log a group belongs to: every broker must find the same."""

from __future__ import annotations

from functools import lru_cache
from struct import unpack

_INT32_MIN = -(1 << 31)


def java_hash(text: str) -> int:
    """Java's String.hashCode: over UTF-16 units, so a surrogate pair counts as two."""
    data = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for unit in unpack(f">{len(data) // 2}H", data):
        value = (31 * value + unit) & 0xFFFF_FFFF
    return value - (1 << 32) if value >> 31 else value


@lru_cache(maxsize=100_000)  # the same groups come again with every request
def partition_of(group_id: str, partition_count: int) -> int:
    value = java_hash(group_id)
    # The one number whose absolute value Java cannot hold counts as 0.
    return 0 if value == _INT32_MIN else abs(value) % partition_count
