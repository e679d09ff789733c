"""The produce request that looks like the one before it.

Client id, acks, timeout, topic and partition hardly ever change on a connection. If the bytes
before the records are those of the last request, nothing is parsed: the partition and the form of
the answer are known. The answer is made at once, and replaced if the tick's write fails.
"""

from __future__ import annotations

from struct import Struct

from ottla.handlers.services import Services
from ottla.network.connection import Connection
from ottla.protocol.apis.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.framing import encode_response
from ottla.protocol.produce_reader import ProduceFrame
from ottla.protocol.records.batch import TRANSACTIONAL_BIT
from ottla.replication.partition import Partition

_FLEXIBLE_FROM = 9
_ZSTD_FROM = 7
_START_OFFSET_FROM = 5
_SMALLEST_BATCH = 61
_PRODUCE = 0
_HEAD = Struct(">ii")  # key and version in one, correlation id
_HEAD_BYTES = _HEAD.size
_INT32 = Struct(">i")
_PRODUCER = Struct(">qh")
_PRODUCER_AT = 43
_MARK = 0x0102_0304_0506_0708  # three numbers that stand nowhere else in an answer
_MARKS = (_MARK, _MARK + 1, _MARK + 2)
_OFFSETS = Struct(">qqq")
_NO_TAGS = bytes(3)
_MOST_KNOWN = 10_000
_LONGEST_KNOWN = 1_000  # bytes: a client's name is as long as it likes


class ProduceShortcut:
    """For one connection, version, client, topic and partition."""

    __slots__ = (
        "_acks", "_answer_bytes", "_count_errors", "_head", "_is_flexible", "_is_transactional",
        "_key_and_version", "_known", "_now_ms", "_pack", "_partition", "_prefix", "_prefix_bytes",
        "_requests", "_special_bits", "_tail", "_version",
    )  # fmt: skip

    def __init__(
        self,
        partition: Partition,
        services: Services,
        *,
        prefix: bytes,
        acks: int,
        version: int,
        is_transactional: bool,
    ) -> None:
        self._partition = partition
        self._now_ms = services.clock.now_ms
        self._requests = services.requests.produces_to(partition.topic, version)
        self._count_errors = services.requests.count_errors
        self._known = services.shortcuts
        self._key_and_version = _PRODUCE << 16 | version
        # Of what is transactional, or zstd in versions that may not carry it.
        self._special_bits = TRANSACTIONAL_BIT if version >= _ZSTD_FROM else TRANSACTIONAL_BIT | 4
        self._is_transactional = is_transactional
        self._prefix = prefix
        self._prefix_bytes = len(prefix) + _HEAD_BYTES
        self._acks = acks
        self._version = version
        self._is_flexible = version >= _FLEXIBLE_FROM
        answer = self._answer(base_offset=_MARKS[0], log_append_time=_MARKS[1], start=_MARKS[2])
        at = answer.index(_OFFSETS.pack(*_MARKS))
        self._head, self._tail = answer[8:at], answer[at + _OFFSETS.size :]
        whole = Struct(f">ii{len(self._head)}sqqq{len(self._tail)}s")
        self._pack, self._answer_bytes = whole.pack, whole.size - 4

    def is_for(self, partition: Partition) -> bool:
        """Not one of the same name that was deleted meanwhile."""
        return self._partition is partition

    def _answer(
        self,
        *,
        base_offset: int,
        log_append_time: int,
        start: int,
        error: KafkaError | None = None,
        correlation_id: int = 0,
    ) -> bytes:
        partition = PartitionProduceResponse(
            index=self._partition.index,
            base_offset=base_offset,
            log_append_time_ms=log_append_time,
            log_start_offset=start,
            error_code=error.code if error else ErrorCode.NONE,
            error_message=str(error) if error else None,
        )
        topic = TopicProduceResponse(name=self._partition.topic, partition_responses=[partition])
        response = ProduceResponse(responses=[topic])
        return encode_response(response, self._version, correlation_id=correlation_id)

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        """False if the request does not look like the last one, or is not answered at once."""
        partition, buffer = self._partition, connection.buffer
        at = start + self._prefix_bytes
        if end - at < _SMALLEST_BATCH:
            return False  # or a length would be read that may lie behind the buffer
        key_and_version, correlation_id = _HEAD.unpack_from(buffer, start)
        if (
            key_and_version != self._key_and_version
            or connection.waiting
            or not partition.answers_at_once
        ):
            return False
        if not buffer.startswith(self._prefix, start + _HEAD_BYTES):
            return self._pass_on(connection, start, end)
        if self._is_flexible:
            # The length is one more than it says; three empty tag buffers follow the records.
            length, at = _read_varint(buffer, at)
            is_whole = at + length + 2 == end and buffer.endswith(_NO_TAGS, at, end)
            end -= 3
        else:
            is_whole = at + 4 + _INT32.unpack_from(buffer, at)[0] == end
            at += 4
        records = connection.view[at:end]
        if (
            not is_whole
            or len(records) < _SMALLEST_BATCH
            or buffer[at + 16] != 2
            or (buffer[at + 22] & self._special_bits and not self._is_in_transaction(records))
            or (partition.looks_at_records and partition.needs_work(records))
        ):
            return False
        try:
            first, _, log_append_time, group = partition.append(
                records, acks=self._acks, now_ms=self._now_ms()
            )
        except KafkaError:
            connection.shortcut = None
            return False  # the long way says why, if it does not find another partition
        if group is not None:
            place = len(connection.outgoing)
            partition.unsure.append((group, self, connection, place, correlation_id))
        self._requests.count += 1
        connection.answer_with(
            self._pack(
                self._answer_bytes, correlation_id, self._head, first, log_append_time,
                partition.log.log_start_offset, self._tail,  # type: ignore[union-attr]
            )
        )  # fmt: skip
        return True

    def _is_in_transaction(self, records: memoryview) -> bool:
        """One that is open in the partition, so that nobody has to be asked: else the long way."""
        if not self._is_transactional or records[22] & self._special_bits != TRANSACTIONAL_BIT:
            return False
        producer_id, epoch = _PRODUCER.unpack_from(records, _PRODUCER_AT)
        return self._partition.is_in_transaction(producer_id, epoch=epoch)

    def _pass_on(self, connection: Connection, start: int, end: int) -> bool:
        """To the shortcut of another partition: the prefixes of one client are of one length."""
        prefix = bytes(connection.view[start + _HEAD_BYTES : start + self._prefix_bytes])
        other = self._known.get((self._version, prefix))
        if other is None:
            return False
        connection.shortcut = other
        return other.serve(connection, start, end)

    def _refusal(self, error: KafkaError, correlation_id: int) -> bytes:
        return self._answer(
            base_offset=-1,
            log_append_time=-1,
            start=-1,
            error=error,
            correlation_id=correlation_id,
        )

    def take_back(self, connection: Connection, place: int, correlation_id: int) -> None:
        """The write failed. The answer has not left: answers are sent after the writes."""
        if not connection.is_closed:
            error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "the records could not be written")
            connection.outgoing[place] = self._refusal(error, correlation_id)
            self._count_errors(_PRODUCE, (error.code,))


def _read_varint(buffer: bytearray, at: int) -> tuple[int, int]:
    """The number, and where it ends. One that is too long is wrong, and so is where it ends."""
    number = shift = 0
    while (byte := buffer[at]) >= 0x80 and shift < 28:
        number |= (byte & 0x7F) << shift
        shift += 7
        at += 1
    return number | byte << shift, at + 1


def shortcut_for(
    services: Services,
    connection: Connection,
    start: int,
    frame: ProduceFrame,
    partition: Partition | None,
    version: int,
) -> ProduceShortcut | None:
    """What to remember of this request, if the next one can be served by it."""
    if partition is None or frame.acks == 0:
        return None
    if version < _START_OFFSET_FROM:
        return None
    prefix = bytes(connection.view[start + _HEAD_BYTES : frame.prefix_end])
    # Many connections of like clients share one, which then stays in the processor's cache.
    known = services.shortcuts.get((version, prefix))
    if isinstance(known, ProduceShortcut) and known.is_for(partition):
        return known
    made = ProduceShortcut(
        partition,
        services,
        prefix=prefix,
        acks=frame.acks,
        version=version,
        is_transactional=frame.transactional_id is not None,
    )
    if len(prefix) <= _LONGEST_KNOWN:
        if len(services.shortcuts) >= _MOST_KNOWN:
            services.shortcuts.clear()
        services.shortcuts[version, prefix] = made
    return made
