"""Bytes to messages and back, for every declared message and version.

A message class is compiled for a version the first time it is needed. When a compiled function
fails, the plain one runs over the same input to say which field is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import error as StructError
from typing import TypeVar

from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.plain import explain_read, explain_write
from ottla.protocol.reader import Reader, compile_reader
from ottla.protocol.schema import Message
from ottla.protocol.varint import Buffer
from ottla.protocol.writer import Writer, compile_writer

M = TypeVar("M", bound=Message)

# Whatever a wrong byte can make a compiled reader raise, or a wrong value a compiled writer.
_READ_FAILURES = (ValueError, IndexError, StructError, OverflowError)
_WRITE_FAILURES = (ValueError, TypeError, AttributeError, StructError, OverflowError)


def decode(cls: type[M], data: Buffer, version: int) -> M:
    """The message at the start of `data`. As in Kafka, what follows it is ignored."""
    return decode_at(cls, data, version)[0]


def decode_at(cls: type[M], data: Buffer, version: int, offset: int = 0) -> tuple[M, int]:
    """The message at `offset`, and where it ends."""
    reader = cls.readers.get(version) or _reader(cls, version)
    buf = data if type(data) is bytes else bytes(data)
    try:
        found: tuple[M, int] = reader(buf, offset)
    except _READ_FAILURES as failure:
        raise explain_read(cls, buf, version, offset) from failure
    return found


def encode(message: Message, version: int) -> bytes:
    """The bytes of the message's body in this version."""
    parts: list[bytes] = []
    encode_into(parts.append, message, version)
    return b"".join(parts)


def encode_into(add: Callable[[bytes], None], message: Message, version: int) -> None:
    """As `encode`, in pieces, so that a frame is joined only once."""
    cls = type(message)
    writer = cls.writers.get(version) or _writer(cls, version)
    try:
        writer(message, add)
    except _WRITE_FAILURES as failure:
        raise explain_write(message, version) from failure


def _reader(cls: type[Message], version: int) -> Reader:
    _check_version(cls, version)
    reader = compile_reader(cls, version, flexible=cls.is_flexible(version))
    cls.readers[version] = reader
    return reader


def _writer(cls: type[Message], version: int) -> Writer:
    _check_version(cls, version)
    writer = compile_writer(cls, version, flexible=cls.is_flexible(version))
    cls.writers[version] = writer
    return writer


def _check_version(cls: type[Message], version: int) -> None:
    if not cls.oldest <= version <= cls.newest:
        raise ProtocolError(
            f"the version is not one of {cls.oldest} to {cls.newest}",
            reading=f"{cls.__name__} v{version}",
            code=ErrorCode.UNSUPPORTED_VERSION,
        )
