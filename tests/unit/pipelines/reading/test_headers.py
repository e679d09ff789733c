"""Headers as Spark packs them, unpacked."""

from __future__ import annotations

import pyarrow as pa

from ottla.pipelines.reading.headers import unpacked


def test_they_come_in_their_order_with_null_and_empty_values() -> None:
    texts = ['[{"key":"b","value":"AP8="},{"key":"a"},{"key":"b","value":""}]', None, "[]"]
    assert unpacked(pa.array(texts)) == [(("b", b"\x00\xff"), ("a", None), ("b", b"")), None, ()]


def test_none_at_all_costs_no_look_at_each() -> None:
    assert unpacked(pa.nulls(2, pa.string())) == [None, None]
