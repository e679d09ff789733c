"""Offsets of version 0, which are nodes of the metadata store."""

from __future__ import annotations

import pytest

from ottla.handlers.stored_offsets import StoredOffsets
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.simulation.store import MemoryStore, MemoryTree
from tests.virtual_time import on_virtual_time

PATH = "/consumers/readers/offsets/orders/3"


@on_virtual_time
async def test_an_offset_is_written_where_kafka_has_it_and_read_from_there() -> None:
    store = MemoryStore(MemoryTree())
    offsets = StoredOffsets(store)
    assert await offsets.fetch("readers", "orders", 3) is None
    await offsets.commit("readers", "orders", 3, 42)
    entry = await store.read(PATH)
    assert entry is not None
    assert entry.data == b"42"
    await offsets.commit("readers", "orders", 3, 43)
    assert await offsets.fetch("readers", "orders", 3) == 43
    assert await offsets.fetch("others", "orders", 3) is None


@on_virtual_time
async def test_a_node_without_data_is_no_offset() -> None:
    store = MemoryStore(MemoryTree())
    await store.create(PATH, parents=True)
    assert await StoredOffsets(store).fetch("readers", "orders", 3) is None


@pytest.mark.parametrize("group", ["", "..", "a//b"])
@on_virtual_time
async def test_a_group_that_can_have_no_node_is_refused(group: str) -> None:
    offsets = StoredOffsets(MemoryStore(MemoryTree()))
    with pytest.raises(KafkaError) as committed:
        await offsets.commit(group, "orders", 0, 1)
    with pytest.raises(KafkaError) as fetched:
        await offsets.fetch(group, "orders", 0)
    assert [committed.value.code, fetched.value.code] == [ErrorCode.INVALID_GROUP_ID] * 2
