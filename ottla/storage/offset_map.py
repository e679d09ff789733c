"""The offset map: for each key of a log's dirty part, the offset of its last record.

Compaction may use only so much memory, and a dict takes some 150 bytes a key. Here it is 24, as in
Kafka: buckets of 32 slots in one long bytearray, 16 bytes a key, searched by `find` at C's speed;
and the offsets in an array beside it. A key that finds its bucket full goes to the next.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b

_KEY_BYTES = 16
_OFFSET_BYTES = 8
_BUCKET_SLOTS = 32
_BUCKET_KEY_BYTES = _BUCKET_SLOTS * _KEY_BYTES
_BUCKET_BYTES = _BUCKET_KEY_BYTES + _BUCKET_SLOTS * _OFFSET_BYTES + 1  # the last: how many are used
_FULL_AT = 0.85  # beyond this, full buckets come in long rows and each search takes many steps

# A short key stands for itself, filled up with zeros and ended by its length; a long one is
# hashed, and ended by a byte that is no length. So only two long keys could ever be confused.
_ENDINGS = tuple(bytes(15 - length) + bytes([length + 1]) for length in range(16))
_HASHED = b"\xff"
NOT_FOUND = -1


def _fixed(key: bytes) -> bytes:
    if len(key) < _KEY_BYTES:
        return key + _ENDINGS[len(key)]
    return blake2b(key, digest_size=15).digest() + _HASHED


class OffsetMap:
    """Keys and their last offsets within `memory_bytes`, as far as a whole bucket fits."""

    def __init__(self, memory_bytes: int) -> None:
        self._bucket_count = max(1, memory_bytes // _BUCKET_BYTES)
        slots = self._bucket_count * _BUCKET_SLOTS
        self._keys = bytearray(slots * _KEY_BYTES)
        self._offsets = array("q", [0]) * slots
        self._used = bytearray(self._bucket_count)
        self._count = 0
        self.capacity = int(slots * _FULL_AT)

    def __len__(self) -> int:
        return self._count

    @property
    def memory_bytes(self) -> int:
        return len(self._keys) + len(self._offsets) * _OFFSET_BYTES + len(self._used)

    def put_all(self, pairs: Iterable[tuple[bytes, int]]) -> int | None:
        """Enter keys with offsets that only grow; the first offset that found no room, or None."""
        keys, offsets, used = self._keys, self._offsets, self._used
        find, bucket_count, endings = keys.find, self._bucket_count, _ENDINGS
        for key, offset in pairs:
            fixed = key + endings[len(key)] if len(key) < 16 else _fixed(key)
            bucket = hash(fixed) % bucket_count
            while True:
                start = bucket * _BUCKET_KEY_BYTES
                end = start + used[bucket] * _KEY_BYTES
                found = find(fixed, start, end)
                # Across the border of two slots a match is possible, and means nothing.
                while found >= 0 and found % _KEY_BYTES:
                    found = find(fixed, found + 1, end)
                if found >= 0:
                    offsets[found // _KEY_BYTES] = offset
                    break
                if used[bucket] < _BUCKET_SLOTS:
                    if self._count >= self.capacity:
                        return offset
                    keys[end : end + _KEY_BYTES] = fixed
                    offsets[end // _KEY_BYTES] = offset
                    used[bucket] += 1
                    self._count += 1
                    break
                bucket = (bucket + 1) % bucket_count
        return None

    def latest(self, keys: Sequence[bytes | None]) -> list[int]:
        """The last offset of each key; NOT_FOUND for those not in the map."""
        find, used, offsets = self._keys.find, self._used, self._offsets
        bucket_count, endings = self._bucket_count, _ENDINGS
        answer = []
        for key in keys:
            if key is None:
                answer.append(NOT_FOUND)
                continue
            fixed = key + endings[len(key)] if len(key) < 16 else _fixed(key)
            bucket = hash(fixed) % bucket_count
            while True:
                start = bucket * _BUCKET_KEY_BYTES
                end = start + used[bucket] * _KEY_BYTES
                found = find(fixed, start, end)
                while found >= 0 and found % _KEY_BYTES:
                    found = find(fixed, found + 1, end)
                if found >= 0:
                    answer.append(offsets[found // _KEY_BYTES])
                    break
                if used[bucket] < _BUCKET_SLOTS:
                    answer.append(NOT_FOUND)
                    break
                bucket = (bucket + 1) % bucket_count
        return answer
