"""What a fetch finds: for each partition an error or a range of its log, within the limits."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.storage.epochs import EpochEnd
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.log import Log
from ottla.storage.slice import Slice
from ottla.storage.transactions import AbortedTransaction

CONSUMER = -1
DEBUGGER = -2
_UNHEARD_OF = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)


class Isolation(IntEnum):
    """How far a reader may see: to the high watermark, or to the last stable offset."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


def isolation_of(level: int) -> Isolation:
    if level not in (Isolation.READ_UNCOMMITTED, Isolation.READ_COMMITTED):
        detail = f"isolation level {level}; 0 (read uncommitted) and 1 (read committed) exist"
        raise KafkaError(ErrorCode.INVALID_REQUEST, detail)
    return Isolation(level)


class Reader(NamedTuple):
    """Who reads, and how much of everything at most."""

    replica_id: int
    isolation: Isolation
    max_bytes: int
    min_bytes: int
    # Before version 3 a batch that does not fit was cut off; since then the first always fits.
    first_batch_whole: bool

    @property
    def is_follower(self) -> bool:
        return self.replica_id >= 0


class Wanted(NamedTuple):
    """One partition of a fetch; without `partition` the refusal is in `error`."""

    topic: str
    topic_id: bytes
    partition_index: int
    partition: Partition | None
    error: ErrorCode
    fetch_offset: int
    max_bytes: int
    leader_epoch: int
    last_fetched_epoch: int

    @property
    def is_unheard_of(self) -> bool:
        """Not even the cluster's metadata knows of it."""
        return self.error in _UNHEARD_OF


class Found:
    """The answer for one partition."""

    __slots__ = (
        "aborted", "diverging", "error", "high_watermark", "last_stable_offset",
        "log_start_offset", "slice", "wanted",
    )  # fmt: skip

    def __init__(self, wanted: Wanted, error: ErrorCode = ErrorCode.NONE) -> None:
        self.wanted = wanted
        self.error = error
        self.high_watermark = -1
        self.last_stable_offset = -1
        self.log_start_offset = -1
        self.slice: Slice | None = None
        self.aborted: list[AbortedTransaction] | None = None
        self.diverging: EpochEnd | None = None  # where the reader's log and ours part (KIP-595)

    @property
    def size_bytes(self) -> int:
        return self.slice.length if self.slice is not None else 0


def read(wanted: Sequence[Wanted], reader: Reader) -> list[Found]:
    """In the order of the request, until `max_bytes` are used up."""
    found = []
    left, first_batch_whole = reader.max_bytes, reader.first_batch_whole
    for each in wanted:
        result = read_one(each, reader, max_bytes=left, min_one_batch=first_batch_whole)
        if result.size_bytes:
            first_batch_whole = False
            left = max(0, left - result.size_bytes)
        found.append(result)
    return found


def read_one(wanted: Wanted, reader: Reader, *, max_bytes: int, min_one_batch: bool) -> Found:
    partition = wanted.partition
    if partition is None:
        found = Found(wanted, wanted.error)
        found.aborted = [] if wanted.is_unheard_of else None
        return found
    try:
        log = partition.leading_log(leader_epoch=wanted.leader_epoch)
        if reader.is_follower:
            _check_follower(partition, reader.replica_id)
        if max_bytes < 0 or wanted.max_bytes < 0:
            raise KafkaError(ErrorCode.INVALID_FETCH_SIZE, f"{partition}: a negative limit")
    except KafkaError as error:
        return Found(wanted, error.code)
    found = Found(wanted)
    try:
        if wanted.last_fetched_epoch >= 0:
            found.diverging = log.epochs.divergence(
                last_fetched_epoch=wanted.last_fetched_epoch,
                fetch_offset=wanted.fetch_offset,
                log_end_offset=log.next_offset,
            )
        if found.diverging is None:
            _read(log, found, reader, max_bytes=max_bytes, min_one_batch=min_one_batch)
    except (CorruptLog, DiskFailed) as failure:
        return Found(wanted, partition.unreadable(failure).code)
    except KafkaError as error:
        found.error = error.code
        found.slice = found.aborted = None
        found.high_watermark = found.last_stable_offset = found.log_start_offset = -1
        return found
    found.high_watermark = log.high_watermark
    found.log_start_offset = log.log_start_offset
    found.last_stable_offset = log.last_stable_offset
    return found


def _check_follower(partition: Partition, replica_id: int) -> None:
    if replica_id == partition.broker_id or replica_id not in partition.replicas:
        detail = f"broker {replica_id} does not follow {partition}"
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, detail)


def _read(log: Log, found: Found, reader: Reader, *, max_bytes: int, min_one_batch: bool) -> None:
    wanted = found.wanted
    is_committed_only = reader.isolation is Isolation.READ_COMMITTED and not reader.is_follower
    if is_committed_only:
        found.aborted = []
    limit = min(wanted.max_bytes, max_bytes)
    result = log.read(
        wanted.fetch_offset,
        max_bytes=limit,
        up_to=end_of_view(log, reader),
        min_one_batch=min_one_batch,
    )
    if result is None or not result.length:
        return
    if reader.first_batch_whole and not min_one_batch and result.length == limit:
        size = int.from_bytes(result.file.read(result.position + 8, 4), "big") + 12
        if size > result.length:
            return  # a later partition's first batch comes whole or not at all
    found.slice = result
    if is_committed_only:
        found.aborted = log.aborted_transactions(result, wanted.fetch_offset)


def end_of_view(log: Log, reader: Reader) -> int:
    """The offset up to which this reader may see the log."""
    if reader.is_follower:
        return log.next_offset
    if reader.isolation is Isolation.READ_COMMITTED:
        return log.last_stable_offset
    return log.high_watermark
