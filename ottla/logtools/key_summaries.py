"""What compaction does to each key of a log: the keys with most bytes, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest

from ottla.logtools.explained_record import ExplainedRecord

MOST_KEYS = 100_000


@dataclass(slots=True)
class KeySummary:
    """One key. `oldest_kept` tells why something of it is still there."""

    key: bytes | None
    records: int = 0
    size_bytes: int = 0
    kept: int = 0
    kept_bytes: int = 0
    oldest_kept: ExplainedRecord | None = None

    @property
    def dropped(self) -> int:
        return self.records - self.kept

    def add(self, record: ExplainedRecord) -> None:
        self.records += 1
        self.size_bytes += record.size_bytes
        if record.verdict.keeps:
            self.kept += 1
            self.kept_bytes += record.size_bytes
            if self.oldest_kept is None:
                self.oldest_kept = record


class KeySummaries:
    """Every key while they are few. When there are too many, the smaller half is forgotten: what
    a key had lost by then, if it comes again, is at most `missing_bytes`.
    """

    def __init__(self, most_keys: int = MOST_KEYS) -> None:
        assert most_keys > 1
        self._most = most_keys
        self._keys: dict[bytes | None, KeySummary] = {}
        self.markers = KeySummary(None)
        self.missing_bytes = 0

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def is_cut(self) -> bool:
        return self.missing_bytes > 0

    def add(self, record: ExplainedRecord) -> None:
        if record.is_marker:
            self.markers.add(record)
            return
        summary = self._keys.get(record.key)
        if summary is None:
            if len(self._keys) >= self._most:
                self._forget_half()
            summary = self._keys[record.key] = KeySummary(record.key)
        summary.add(record)

    def _forget_half(self) -> None:
        ordered = sorted(self._keys.values(), key=_by_size)
        lost = ordered[: len(ordered) // 2]
        self.missing_bytes += max(lost[-1].size_bytes, 1)
        for summary in lost:
            del self._keys[summary.key]

    def top(self, count: int) -> list[KeySummary]:
        """The keys with most bytes, largest first."""
        return nlargest(count, self._keys.values(), key=_by_size)


def _by_size(summary: KeySummary) -> tuple[int, bytes]:
    return summary.size_bytes, summary.key or b""
