"""The two ways in which records are refused, and the code that a client hears for each."""

from __future__ import annotations

from ottla.protocol.errors import ErrorCode, ProtocolError


def corrupt(
    cause: str, *, reading: str, path: str = "", offset: int | None = None
) -> ProtocolError:
    """Bytes that were damaged on their way: sizes, checksums, compressed data."""
    code = ErrorCode.CORRUPT_MESSAGE
    return ProtocolError(cause, reading=reading, path=path, offset=offset, code=code)


def invalid(
    cause: str, *, reading: str, path: str = "", offset: int | None = None
) -> ProtocolError:
    """Bytes that arrived as they were sent, but make no sense; sending them again will not help."""
    code = ErrorCode.INVALID_RECORD
    return ProtocolError(cause, reading=reading, path=path, offset=offset, code=code)
