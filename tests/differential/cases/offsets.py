"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords."""

from __future__ import annotations

from ottla.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.apis.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record
from tests.differential.case import Case, Step, Topic, case, step
from tests.differential.requests import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    T0,
    At,
    To,
    When,
    batch,
    fetch,
    list_offsets,
    produce,
)

PUT = produce(7, To(batch(b"a", b"b", b"c")))
MORE = produce(7, To(batch(b"d", b"e", start=T0 + 10_000)))
TIMES = (LATEST, EARLIEST, T0 - 1, T0, T0 + 1, T0 + 2000, T0 + 2001, T0 + 10_500, T0 + 11_000,
         T0 + 11_001, 0)  # fmt: skip
SPECIAL = (MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, -6, -100)
# The newest record is not the last one.
DISORDERED = build_batch(
    [Record(0, T0 + 5, b"k", b"a"), Record(1, T0 + 50, b"k", b"b"), Record(2, T0 + 9, b"k", b"c")]
)


def epoch_end(version: int, *parts: tuple[str, int, int, int], replica_id: int = -1) -> Step:
    """Of (topic, partition, current leader epoch, epoch)."""
    return step(
        OffsetForLeaderEpochRequest,
        version,
        lambda world: OffsetForLeaderEpochRequest(
            replica_id=replica_id,
            topics=[
                OffsetForLeaderTopic(
                    topic=world.name(topic),
                    partitions=[
                        OffsetForLeaderPartition(
                            partition=partition, current_leader_epoch=current, leader_epoch=epoch
                        )
                    ],
                )
                for topic, partition, current, epoch in parts
            ],
        ),
    )


def delete_records(version: int, *parts: tuple[str, int, int], timeout_ms: int = 5_000) -> Step:
    """Of (topic, partition, offset)."""
    return step(
        DeleteRecordsRequest,
        version,
        lambda world: DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name=world.name(topic),
                    partitions=[DeleteRecordsPartition(partition_index=partition, offset=offset)],
                )
                for topic, partition, offset in parts
            ],
            timeout_ms=timeout_ms,
        ),
    )


BOTH_ENDS = list_offsets(5, When(EARLIEST)), list_offsets(5, When(LATEST))

_LIST = (
    *(
        case(f"list-offsets-v{v}", PUT, MORE, *(list_offsets(v, When(t)) for t in TIMES),
             topics=["t"])
        for v in range(10)
    ),
    *(
        case(f"list-offsets-special-v{v}", PUT, *(list_offsets(v, When(t)) for t in SPECIAL),
             topics=["t"])
        for v in (1, 6, 7, 8, 9)
    ),
    *(
        case(f"list-offsets-empty-v{v}",
             *(list_offsets(v, When(t)) for t in (LATEST, EARLIEST, MAX_TIMESTAMP, T0)),
             topics=["t"])
        for v in (0, 1, 7, 9)
    ),
    case("list-offsets-disordered", produce(7, To(DISORDERED)), MORE,
         *(list_offsets(9, When(t)) for t in (MAX_TIMESTAMP, T0, T0 + 6, T0 + 40, T0 + 51)),
         topics=["t"]),
    case("list-offsets-newest-in-the-middle", MORE, produce(7, To(DISORDERED)),
         *(list_offsets(9, When(t)) for t in (MAX_TIMESTAMP, T0, T0 + 20_000)), topics=["t"]),
    case("list-offsets-compressed",
         produce(7, To(batch(b"a", b"b", b"c", codec=Codec.GZIP))),
         *(list_offsets(9, When(t)) for t in (MAX_TIMESTAMP, T0 + 1, T0 + 1500)), topics=["t"]),
    case("list-offsets-append-time", PUT, *(list_offsets(9, When(t)) for t in (MAX_TIMESTAMP, T0)),
         topics=[Topic("t", configs={"message.timestamp.type": "LogAppendTime"})]),
    case("list-offsets-many-v0", PUT, MORE,
         *(list_offsets(0, When(t, max_num_offsets=n))
           for t in (LATEST, EARLIEST, T0) for n in (0, 2, 10, -1)), topics=["t"]),
    *(
        case(f"list-offsets-unknown-v{v}", list_offsets(v, When(LATEST, "missing")),
             list_offsets(v, When(LATEST, partition=3), When(LATEST)),
             list_offsets(v, When(LATEST, partition=-1)), topics=["t"])
        for v in (0, 1, 4, 9)
    ),
    *(
        case(f"list-offsets-duplicates-v{v}", PUT, list_offsets(v, When(LATEST), When(EARLIEST)),
             list_offsets(v, When(LATEST), When(LATEST, partition=1), When(LATEST)),
             topics=[Topic("t", 2)])
        for v in (0, 1, 6, 9)
    ),
    *(
        case(f"list-offsets-leader-epoch-v{v}", PUT,
             *(list_offsets(v, When(LATEST, leader_epoch=epoch)) for epoch in (0, 1, 99, -1, -9)),
             topics=["t"])
        for v in (4, 9)
    ),
    case("list-offsets-committed", PUT, *(
        list_offsets(v, When(LATEST), isolation_level=1) for v in (2, 5, 9)),
        list_offsets(9, When(T0), isolation_level=1), list_offsets(9, When(LATEST),
        isolation_level=5),
        topics=["t"]),
    case("list-offsets-as-others", PUT, *(
        list_offsets(5, When(LATEST), replica_id=replica) for replica in (0, 7, -2, -3)),
        topics=["t"]),
    case("list-offsets-nothing", list_offsets(0), list_offsets(5), list_offsets(9)),
    case("list-offsets-invalid-name", list_offsets(5, When(LATEST, "=no name"))),
)  # fmt: skip
_EPOCHS = (
    *(
        case(f"epoch-end-v{v}", PUT, *(
            epoch_end(v, ("t", 0, -1, epoch)) for epoch in (0, 1, 5, -1, -2)), topics=["t"])
        for v in range(5)
    ),
    case("epoch-end-empty", epoch_end(4, ("t", 0, -1, 0)), epoch_end(0, ("t", 0, -1, 0)),
         topics=["t"]),
    *(
        case(f"epoch-end-unknown-v{v}", epoch_end(v, ("missing", 0, -1, 0), ("t", 8, -1, 0)),
             topics=["t"])
        for v in (0, 3, 4)
    ),
    *(
        case(f"epoch-end-fenced-v{v}", PUT, *(
            epoch_end(v, ("t", 0, current, 0)) for current in (0, 1, 50, -4)), topics=["t"])
        for v in (2, 4)
    ),
    case("epoch-end-as-follower", PUT, epoch_end(4, ("t", 0, 0, 0), replica_id=0),
         epoch_end(4, ("t", 0, 0, 0), replica_id=9), epoch_end(3, ("t", 0, 0, 0), replica_id=-2),
         topics=["t"]),
    case("epoch-end-nothing", epoch_end(4), epoch_end(0)),
)  # fmt: skip
_DELETE = (
    *(
        case(f"delete-records-v{v}", PUT, MORE, delete_records(v, ("t", 0, 2)), *BOTH_ENDS,
             fetch(12, At(1)), fetch(12, At(2)), delete_records(v, ("t", 0, 5)), *BOTH_ENDS,
             produce(8, To(batch(b"f"))), topics=["t"])
        for v in range(3)
    ),
    case("delete-records-to-the-end", PUT, delete_records(2, ("t", 0, -1)), *BOTH_ENDS,
         delete_records(2, ("t", 0, -1)), topics=["t"]),
    case("delete-records-already-gone", PUT, delete_records(2, ("t", 0, 2)),
         delete_records(2, ("t", 0, 1)), delete_records(2, ("t", 0, 0)), *BOTH_ENDS,
         topics=["t"]),
    case("delete-records-out-of-range", PUT, delete_records(2, ("t", 0, 4)),
         delete_records(2, ("t", 0, -2)), *BOTH_ENDS, topics=["t"]),
    case("delete-records-unknown", delete_records(2, ("missing", 0, 0), ("t", 6, 0)),
         topics=["t"]),
    case("delete-records-compacted-only", PUT, delete_records(2, ("t", 0, 1)), *BOTH_ENDS,
         topics=[Topic("t", configs={"cleanup.policy": "compact"})]),
    case("delete-records-compacted-and-deleted", PUT, delete_records(2, ("t", 0, 1)), *BOTH_ENDS,
         topics=[Topic("t", configs={"cleanup.policy": "compact,delete"})]),
    case("delete-records-several", PUT, delete_records(2, ("t", 0, 1), ("t", 0, 9), ("u", 0, 0)),
         topics=["t", "u"]),
    case("delete-records-empty-topic", delete_records(2, ("t", 0, 0)), delete_records(2, ("t", 0,
         -1)),
         delete_records(2, ("t", 0, 1)), topics=["t"]),
    case("delete-records-nothing", delete_records(2), delete_records(0)),
    case("delete-records-no-time", PUT, delete_records(2, ("t", 0, 1), timeout_ms=0), *BOTH_ENDS,
         topics=["t"]),
    case("delete-records-then-old-offsets", PUT, delete_records(2, ("t", 0, 2)),
         list_offsets(5, When(T0)), list_offsets(9, When(MAX_TIMESTAMP)), epoch_end(4, ("t", 0,
         -1, 0)),
         topics=["t"]),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_LIST, *_EPOCHS, *_DELETE)
