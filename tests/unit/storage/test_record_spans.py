"""The quick way through a batch's records agrees with the plain one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.record import Record, iterate_records, write_records
from ottla.storage.record_spans import read_spans, wrap_int64, write_spans

contents = st.one_of(st.none(), st.binary(max_size=5), st.integers(0, 20_000).map(bytes))
stamps = st.one_of(st.integers(0, 300), st.integers(-(2**63), 2**63 - 1))
headers = st.lists(st.tuples(st.text(max_size=3), st.one_of(st.none(), st.binary(max_size=3))))


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    offsets = sorted(draw(st.sets(st.integers(0, 40_000), max_size=8)))
    return [Record(o, draw(stamps), draw(contents), draw(contents), draw(headers)) for o in offsets]


@given(record_lists(), st.integers(-(2**63), 2**63 - 1))
def test_spans_tell_what_records_tell(records: list[Record], base_timestamp: int) -> None:
    payload = write_records(records, base_offset=0, base_timestamp=base_timestamp)
    spans = read_spans(payload, len(records))
    assert [
        (span.offset_delta, wrap_int64(base_timestamp + span.timestamp_delta), span.key)
        for span in spans
    ] == [(record.offset, record.timestamp, record.key) for record in records]
    assert [span.is_tombstone for span in spans] == [record.value is None for record in records]
    assert b"".join(payload[span.start : span.end] for span in spans) == payload


@given(record_lists(), stamps, stamps)
def test_timestamps_can_be_counted_from_another_base(
    records: list[Record], old_base: int, new_base: int
) -> None:
    payload = write_records(records, base_offset=0, base_timestamp=old_base)
    spans = read_spans(payload, len(records))
    deltas = [wrap_int64(record.timestamp - new_base) for record in records]
    expected = write_records(records, base_offset=0, base_timestamp=new_base)
    assert write_spans(payload, spans, deltas) == expected


@given(st.binary(max_size=60), st.integers(0, 4))
def test_bytes_that_are_no_records_are_refused_and_never_misread(data: bytes, count: int) -> None:
    try:
        spans = read_spans(data, count)
        plain = list(iterate_records(data, count, base_offset=0, base_timestamp=0))
    except (ValueError, ProtocolError):
        return  # the plain way also looks at values and headers, which stay as they are here
    assert [(s.offset_delta, s.key) for s in spans] == [(r.offset, r.key) for r in plain]


@pytest.mark.parametrize(
    ("payload", "count"),
    [(b"", 1), (b"\x0c\0\0\0\1\1\0", 2), (b"\x0c\0\0\0\1\1\0x", 1), (b"\x01\0\0\0\1\1\0", 1)],
)
def test_a_count_or_a_length_that_lies_is_refused(payload: bytes, count: int) -> None:
    with pytest.raises(ValueError, match="record"):
        read_spans(payload, count)
