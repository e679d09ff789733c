"""What the three record formats have in common, byte for byte."""

from __future__ import annotations

from enum import IntEnum

LOG_OVERHEAD = 12  # offset and length: what stands before the bytes that the length counts
MAGIC_AT = 16  # the same place in all formats, so that it can be read first
NO_TIMESTAMP = -1

CODEC_MASK = 0x07
LOG_APPEND_TIME_BIT = 0x08


class TimestampType(IntEnum):
    """Who set the timestamps: nobody (magic 0), the producer, or the leader when it appended."""

    NONE = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1
