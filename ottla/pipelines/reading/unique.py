"""Uniqueness within a batch: of the records with the same value the first one stays.

A shuffle brings them together; first is who has the lowest topic, partition and offset, so that a
batch which runs again ends the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ottla.pipelines.declaration import Rule
from ottla.pipelines.reading import contract
from ottla.pipelines.reading.counting import count_exceptions, count_passed
from ottla.pipelines.reading.origin import carried, dead_letters, slots
from ottla.pipelines.reading.side import Chunk, Outlet
from ottla.pipelines.reading.verdict import Verdict, keep

_ORDER = [(name, "ascending") for name in ("topic", "partition", "offset")]


class UniqueStage:
    """Takes back what the reading let pass; see `Tally`."""

    def __init__(self, rule: Rule, outlet: Outlet) -> None:
        self._rule = rule
        self._outlet = outlet

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        chunk = Chunk()
        held = [records for records in batches if len(records)]
        if held:
            yield self.keep(pa.concat_batches(held), chunk)
        self._outlet.tell(chunk)

    def keep(self, held: pa.RecordBatch, chunk: Chunk) -> pa.RecordBatch:
        rows = pa.StructArray.from_arrays(held.columns, names=held.schema.names)
        records = carried(held)
        verdict = self._judge(rows, records)
        if not (verdict.removed or verdict.warned):
            return held
        at = slots(records)
        if verdict.removed:
            count_passed(chunk.tally, at.count(~verdict.passed), sign=-1)
        count_exceptions(chunk.tally, at, verdict)
        chunk.dead_letters += dead_letters(records, verdict)
        return held.filter(pa.array(verdict.passed))

    def _judge(self, rows: Any, records: pa.RecordBatch) -> Verdict:
        values = contract.column(rows, self._rule.column)
        order = pc.sort_indices(records, sort_keys=_ORDER).to_numpy()
        verdict = Verdict(np.ones(len(values), dtype=bool))
        keep(self._rule, rows, _repeated(values, order), verdict)
        return verdict


def _repeated(values: Any, order: Any) -> Any:
    """All but the first of each value. Null is like nothing, not even null."""
    codes = values.dictionary_encode().indices.fill_null(-1).to_numpy()
    _, firsts = np.unique(codes[order], return_index=True)
    repeated = codes >= 0
    repeated[order[firsts]] = False
    return repeated
