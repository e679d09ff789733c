"""Many offsets at once become the records that they would become one by one."""

from __future__ import annotations

import pytest

from ottla.coordinators.batch import build_coordinator_batch
from ottla.coordinators.effects import Record, RecordRows
from ottla.coordinators.groups.offset_rows import CommittedRows, OffsetRows
from ottla.coordinators.groups.records import (
    NOTHING_COMMITTED,
    CommittedOffset,
    join_plain,
    offset_key,
    offset_key_start,
    offset_value,
)
from ottla.protocol.apis.offset_commit import OffsetCommitRequestPartition
from ottla.protocol.codec import encode
from ottla.protocol.plain_commit import PlainPartitions, read_plain_commit
from tests.unit.protocol.test_plain_commit import request

NOW_MS = 1_700_000_000_123


def offsets_and_records(group: str, count: int) -> tuple[OffsetRows, list[Record]]:
    """Partitions and offsets with all kinds of bytes, and the same one by one."""
    wanted = request()
    wanted.topics[0].partitions = [
        OffsetCommitRequestPartition(
            partition_index=number * 7919 % (1 << 31),
            committed_offset=number * 0x0102_0304_0506,
            committed_leader_epoch=number * 65_537 - 1,
            committed_metadata="",
        )
        for number in range(count)
    ]
    read = read_plain_commit(encode(wanted, 8), 8, 0)
    assert read is not None
    plain: object = read.topics[0].partitions
    assert isinstance(plain, PlainPartitions)
    places = [("t", each.partition_index) for each in plain]
    start, records = offset_key_start(group), []
    for each in plain:
        committed = CommittedOffset(each.committed_offset, each.committed_leader_epoch, "", NOW_MS)
        key = offset_key(start, "t", each.partition_index)
        records.append(Record(key, offset_value(committed)))
    return OffsetRows("t", places, plain.rows), records


@pytest.mark.parametrize("before", [0, 1, 50, 64, 8_150, 8_192, 20_000])
@pytest.mark.parametrize("group", ["g", "a group whose name makes its records long" * 5])
def test_rows_are_the_records_that_they_stand_for(group: str, before: int) -> None:
    offsets, records = offsets_and_records(group, 150)
    rows = CommittedRows(offsets, offset_key_start(group), now_ms=NOW_MS)
    first = [Record(b"k", b"v")] * before
    batch: list[Record | RecordRows] = [*first, rows, *first[:3], rows]
    plain = [*first, *records, *first[:3], *records]
    built = build_coordinator_batch(batch, timestamp=NOW_MS)
    assert built == build_coordinator_batch(plain, timestamp=NOW_MS)
    assert rows.size_bytes >= len(rows.encode(before))
    assert list(rows.values) == [record.value for record in records]


def test_values_are_joined_only_if_all_are_plain() -> None:
    plain = offset_value(CommittedOffset(7, 3, "", NOW_MS))
    assert join_plain([plain, NOTHING_COMMITTED]) == plain + NOTHING_COMMITTED
    assert join_plain([]) == b""
    # Together they are as long as three plain ones, and look like them at every joint.
    longer = offset_value(CommittedOffset(7, 3, "\0\3".rjust(12, "\0") + "\0" * 14, NOW_MS))
    others = [
        offset_value(CommittedOffset(7, 3, "note", NOW_MS)),
        offset_value(CommittedOffset(7, -1, "", NOW_MS, NOW_MS)),
        b"",
        longer,
    ]
    for other in others:
        assert join_plain([plain, other]) is None
        assert join_plain([other, plain]) is None
