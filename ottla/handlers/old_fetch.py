"""What readers get that are older than the records: the same in their format, or an error."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.network.pieces import FilePiece
from ottla.protocol.apis.fetch import PartitionData
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.convert import down_convert_for_fetch
from ottla.protocol.records.record_set import read_batches
from ottla.replication.partition import Partition
from ottla.replication.reading import Found
from ottla.storage.files import DiskFailed

MAGIC_2_FROM = 4
_MAGIC_1_FROM = 2
_ZSTD_FROM = 10


def refusal_for_old_readers(version: int, partition: Partition) -> ErrorCode:
    """What needs no look at the records."""
    if version >= _ZSTD_FROM:
        return ErrorCode.NONE
    if partition.log is None:  # its disk has failed since it was found
        return ErrorCode.KAFKA_STORAGE_ERROR
    if partition.log.config.compression_type == "zstd":
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    return ErrorCode.NONE


def refuse_partition(data: PartitionData, code: ErrorCode) -> None:
    data.error_code = code
    data.high_watermark = data.last_stable_offset = data.log_start_offset = -1
    data.aborted_transactions = []
    data.records = b""  # never null: librdkafka would ask again and again


class Conversion:
    """The records of one partition for a reader before version 4.

    `run` reads and converts them, on any thread; then `settle` completes the answer, on the loop.
    """

    __slots__ = (
        "_converted_count", "_data", "_failure", "_first_offset", "_is_allowed", "_may_be_cut",
        "_partition", "_piece", "_records", "_to_magic", "_traffic",
    )  # fmt: skip

    def __init__(self, call: Call, found: Found, data: PartitionData) -> None:
        partition, slice_ = found.wanted.partition, found.slice
        assert partition is not None
        assert slice_ is not None
        self._partition = partition
        self._data = data
        self._piece = FilePiece(slice_.file, slice_.position, slice_.length)
        self._first_offset = found.wanted.fetch_offset
        self._to_magic = 1 if call.version >= _MAGIC_1_FROM else 0
        self._is_allowed = call.services.settings.down_converts(partition.topic)
        self._may_be_cut = partition.local_log().config.message_magic <= self._to_magic
        self._records = b""
        self._converted_count = 0
        self._traffic = call.services.replicas.traffic.of(partition.topic)
        self._failure: DiskFailed | KafkaError | None = None

    def run(self) -> None:
        try:
            self._records = self._converted(self._piece.read())
        except (DiskFailed, KafkaError) as failure:
            self._failure = failure

    def _converted(self, data: bytes) -> bytes:
        magics = [batch.magic for batch in read_batches(data, check_crc=False)]
        if not magics and not self._may_be_cut:
            return b""  # of a batch that does not fit nothing is converted
        if all(magic <= self._to_magic for magic in magics):
            return data
        if not self._is_allowed:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"{self._partition} is not converted")
        converted = down_convert_for_fetch(
            data, to_magic=self._to_magic, first_offset=self._first_offset
        )
        self._converted_count = _newer_than(self._to_magic, data)
        return converted

    def settle(self) -> None:
        self._piece.release()
        self._data.records = self._records
        self._traffic.messages_read_old += self._converted_count
        if isinstance(self._failure, DiskFailed):
            self._failure = self._partition.unreadable(self._failure)
        if self._failure is not None:
            refuse_partition(self._data, self._failure.code)


def _newer_than(magic: int, data: bytes) -> int:
    """How many records are; those that were compacted away are counted with them."""
    return sum(
        batch.last_offset - batch.base_offset + 1
        for batch in read_batches(data, check_crc=False)
        if batch.magic > magic
    )
