"""What readers get that are older than the records: the same in their format, or an error."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.convert import down_convert_for_fetch
from ottla.protocol.records.record_set import read_batches
from ottla.replication.reading import Found

_MAGIC_2_FROM = 4
_MAGIC_1_FROM = 2
_ZSTD_FROM = 10


def for_old_readers(call: Call, found: Found) -> tuple[ErrorCode, bytes] | None:
    """An error and the records to send, or None if what is stored can be sent as it is."""
    version, partition, slice_ = call.version, found.wanted.partition, found.slice
    assert partition is not None
    assert slice_ is not None
    if version >= _ZSTD_FROM:
        return None
    if partition.local_log().config.compression_type == "zstd":
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, b""
    if version >= _MAGIC_2_FROM:
        return None
    to_magic = 1 if version >= _MAGIC_1_FROM else 0
    data = slice_.read()
    magics = [batch.magic for batch in read_batches(data, check_crc=False)]
    if not magics and partition.local_log().config.message_magic > to_magic:
        return ErrorCode.NONE, b""  # of a batch that does not fit nothing is converted
    if all(magic <= to_magic for magic in magics):
        return None
    if not call.services.settings.down_converts(partition.topic):
        return ErrorCode.UNSUPPORTED_VERSION, b""
    try:
        records = down_convert_for_fetch(
            data, to_magic=to_magic, first_offset=found.wanted.fetch_offset
        )
    except KafkaError as error:
        return error.code, b""  # never null: librdkafka would ask again and again
    return ErrorCode.NONE, records
