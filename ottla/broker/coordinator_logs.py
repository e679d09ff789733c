"""A partition that this broker leads, as the log of a coordinator: appended to, and read back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ottla.coordinators.batch import build_coordinator_batch, encode_records
from ottla.coordinators.effects import Record, RecordRows
from ottla.coordinators.log import Producer
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.compression import Codec
from ottla.replication.delayed_produce import DelayedProduce, PartitionResult
from ottla.replication.partition import Partition
from ottla.replication.replicas import Replicas
from ottla.storage.append_group import Appended
from ottla.storage.files import DiskFailed
from ottla.storage.slice import Slice
from ottla.timing.clock import Clock

ALL_IN_SYNC = -1
_NOBODY = (-1, -1)
_NONE = ErrorCode.NONE  # an enum's members are slow to find
OnStored = Callable[[ErrorCode], None]
OnRead = Callable[[bytes | ErrorCode], None]


class CoordinatorLogs(NamedTuple):
    """The partitions of one internal topic."""

    topic: str
    replicas: Replicas
    clock: Clock
    codec: Codec
    acks: int = ALL_IN_SYNC

    def open(self, partition: int) -> PartitionLog:
        return PartitionLog(self, self.replicas.get(self.topic, partition))


class _Unanswered:
    """An append whose outcome may be known, but not told yet."""

    __slots__ = ("error", "on_stored")

    def __init__(self, on_stored: OnStored, error: ErrorCode | None = None) -> None:
        self.on_stored = on_stored
        self.error = error


class PartitionLog:
    """Keeps the port `coordinators.log.CoordinatorLog`."""

    def __init__(self, logs: CoordinatorLogs, partition: Partition) -> None:
        self._clock = logs.clock
        self._codec = logs.codec
        self._acks = logs.acks
        self._replicas = logs.replicas
        self._partition = partition
        self._unanswered: deque[_Unanswered] = deque()

    @property
    def max_batch_bytes(self) -> int:
        log = self._partition.log
        return min(log.config.max_message_bytes, log.config.segment_bytes) if log else 0

    @property
    def _is_uncompressed(self) -> bool:
        """Whatever the coordinator's option says: the topic's own goes before it."""
        log = self._partition.log
        return log is not None and log.config.compression_type == "uncompressed"

    def append(
        self,
        records: Sequence[Record | RecordRows],
        on_stored: OnStored,
        *,
        timeout_ms: int,
        producer: Producer | None = None,
    ) -> None:
        partition, now_ms, log = self._partition, self._clock.now_ms(), self._partition.log
        try:
            if (
                producer is None
                and log is not None
                and log.takes_own
                and (not self._codec or self._is_uncompressed)
            ):
                payload, count = encode_records(records)
                appended = partition.append_own(payload, count, acks=self._acks, now_ms=now_ms)
            else:
                appended = self._append_sealed(records, producer, now_ms)
        except KafkaError as error:
            self._replicas.tick.settle(partial(self._answer, on_stored, error.code))
        else:
            self._replicas.tick.settle(partial(self._written, on_stored, appended, timeout_ms))

    def _append_sealed(
        self, records: Sequence[Record | RecordRows], producer: Producer | None, now_ms: int
    ) -> Appended:
        """A batch that the log looks at as at a client's: compressed, or a transaction's."""
        producer_id, producer_epoch = producer or _NOBODY
        batch = build_coordinator_batch(
            records,
            timestamp=now_ms,
            codec=Codec.NONE if self._is_uncompressed else self._codec,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            is_transactional=producer is not None,
        )
        view = memoryview(bytearray(batch))  # the leader writes offsets into it
        return self._partition.append(view, acks=self._acks, now_ms=now_ms, from_client=False)

    def _written(self, on_stored: OnStored, appended: Appended, timeout_ms: int) -> None:
        """The tick's writes are done, and nearly always that is all there is to wait for."""
        partition = self._partition
        log, group = partition.log, appended.group
        if log is None:
            self._answer(on_stored, ErrorCode.KAFKA_STORAGE_ERROR)
        elif (
            partition.answers_at_once
            and partition.is_leader
            and log.high_watermark > appended.last_offset
            and group is not None
            and group.error is None
        ):
            if self._unanswered:
                self._answer(on_stored, _NONE)
            else:
                on_stored(_NONE)
        else:
            self._wait(on_stored, appended, timeout_ms)

    def _wait(self, on_stored: OnStored, appended: Appended, timeout_ms: int) -> None:
        unanswered = _Unanswered(on_stored)
        self._unanswered.append(unanswered)

        def settle(results: list[PartitionResult]) -> None:
            unanswered.error = results[0].error
            self._answer_in_order()

        result = PartitionResult(self._partition.topic, self._partition.index)
        result.appended(self._partition, appended)
        operation = DelayedProduce([result], acks=self._acks, reply=settle)
        operation.written(self._replicas.produces, timeout_ms=timeout_ms)

    def _answer(self, on_stored: OnStored, error: ErrorCode) -> None:
        """One that is known at once must not overtake those that wait for other replicas."""
        if self._unanswered:
            self._unanswered.append(_Unanswered(on_stored, error))
        else:
            on_stored(error)

    def _answer_in_order(self) -> None:
        unanswered = self._unanswered
        while unanswered and (error := unanswered[0].error) is not None:
            unanswered.popleft().on_stored(error)

    def read(self, from_offset: int, *, max_bytes: int, on_read: OnRead) -> None:
        try:
            found = self._find(from_offset, max_bytes)
            if found is not None:
                found.file.pin()  # compaction may put another in its place meanwhile
        except KafkaError as error:
            code = error.code
            self._replicas.tick.settle(lambda: on_read(code))
        except DiskFailed as error:
            self._failed(error, on_read)
        else:
            if found is None:
                self._replicas.tick.settle(lambda: on_read(b""))
            else:
                self._read(found, on_read)

    def _find(self, from_offset: int, max_bytes: int) -> Slice | None:
        log = self._partition.leading_log()
        offset = max(from_offset, log.log_start_offset)
        if offset >= log.next_offset:
            return None
        return log.read(offset, max_bytes=max_bytes, up_to=log.next_offset)

    def _read(self, found: Slice, on_read: OnRead) -> None:
        """In a file thread: what is loaded has mostly not been looked at for long. It is pinned."""
        data: list[bytes] = []

        def done(error: BaseException | None) -> None:
            found.file.unpin()
            if isinstance(error, DiskFailed):
                self._failed(error, on_read)
                return
            if error is not None:
                raise error
            on_read(data[0])

        self._replicas.hop.run(lambda: data.append(found.read()), done)

    def _failed(self, error: DiskFailed, on_read: OnRead) -> None:
        self._partition.disk_failed(error)
        self._replicas.tick.settle(lambda: on_read(ErrorCode.KAFKA_STORAGE_ERROR))
