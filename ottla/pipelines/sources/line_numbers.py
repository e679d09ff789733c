"""Numbers for the lines of files, which Spark reads in blocks and does not count.

A line is its block's first byte, plus how many lines of the block came before it. As a line has a
byte at least, no two of a file have the same number; in a file of one block it is the line's own.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


class LineNumbers:
    """One task's. Its batches come block after block, each in the order of the file."""

    def __init__(self) -> None:
        self._block: tuple[str, int] | None = None
        self._count = 0

    def numbered(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """With numbers in `offset`, where the first bytes of blocks were; `topic` is the file."""
        files, starts = rows.column("topic"), rows.column("offset")
        numbers: list[int] = []
        for block, length in _runs(files, starts):
            if block != self._block:
                self._block, self._count = block, 0
            first = block[1] + self._count
            numbers.extend(range(first, first + length))
            self._count += length
        where = rows.schema.get_field_index("offset")
        return rows.set_column(where, "offset", pa.array(numbers, pa.int64()))


def _runs(files: Any, starts: Any) -> list[tuple[tuple[str, int], int]]:
    """The blocks in turn, and how many rows each has."""
    if not len(files):
        return []
    # Runs of both columns at once: where either changes, a block ends.
    ends: dict[int, None] = {}
    for column in (files, starts):
        ends |= dict.fromkeys(pc.run_end_encode(column).run_ends.to_pylist())
    runs, begin = [], 0
    for end in sorted(ends):
        runs.append(((files[begin].as_py(), starts[begin].as_py()), end - begin))
        begin = end
    return runs
