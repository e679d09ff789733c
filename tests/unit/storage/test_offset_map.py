"""The offset map answers as a dict would, within the memory it was given."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from ottla.storage.offset_map import NOT_FOUND, OffsetMap

# Short and long keys, and short ones that look like parts of others when they stand side by side.
keys = st.one_of(
    st.binary(max_size=40),
    st.integers(0, 15).map(bytes),
    st.integers(0, 300).map(lambda number: b"a key of many bytes, number %d" % number),
)


@given(st.lists(keys, max_size=400))
def test_it_answers_as_a_dict_does(history: list[bytes]) -> None:
    offset_map = OffsetMap(100_000)
    model: dict[bytes, int] = {}
    for offset, key in enumerate(history):
        assert offset_map.put_all([(key, offset)]) is None
        model[key] = offset
    asked = [*model, b"never put", None]
    assert offset_map.latest(asked) == [*model.values(), NOT_FOUND, NOT_FOUND]
    assert len(offset_map) == len(model)


def test_a_full_map_says_where_it_stopped() -> None:
    offset_map = OffsetMap(1)
    pairs = [(b"%d" % number, number) for number in range(100)]
    stopped_at = offset_map.put_all(pairs)
    assert stopped_at == offset_map.capacity == len(offset_map)
    assert offset_map.latest([b"%d" % (stopped_at - 1), b"%d" % stopped_at]) == [
        stopped_at - 1,
        NOT_FOUND,
    ]


def test_a_full_map_still_takes_keys_that_it_knows() -> None:
    offset_map = OffsetMap(1)
    offset_map.put_all((b"%d" % number, number) for number in range(offset_map.capacity))
    assert offset_map.put_all([(b"3", 1_000), (b"new", 1_001), (b"4", 1_002)]) == 1_001
    assert offset_map.latest([b"3", b"4"]) == [1_000, 4]


def test_keys_that_overflow_their_bucket_are_found() -> None:
    offset_map = OffsetMap(10_000)
    pairs = [(b"key %d" % number, number) for number in range(offset_map.capacity)]
    assert offset_map.put_all(pairs) is None
    assert offset_map.latest([key for key, _ in pairs]) == [offset for _, offset in pairs]


def test_it_keeps_within_its_memory_and_uses_it() -> None:
    memory_bytes = 512 * 1024
    tracemalloc.start()
    try:
        offset_map = OffsetMap(memory_bytes)
        full_at = offset_map.put_all((b"key %d" % number, number) for number in range(1_000_000))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert full_at is not None
    assert peak_bytes < memory_bytes + 4_000
    assert offset_map.memory_bytes <= memory_bytes
    assert memory_bytes / full_at < 29  # bytes a key
