"""A producer that another has taken the place of hears so in a code that its version knows."""

from __future__ import annotations

from ottla.protocol.errors import ErrorCode


def fenced_error(error: ErrorCode, *, version: int, known_from: int) -> ErrorCode:
    """PRODUCER_FENCED is as old as Kafka 2.7; older clients know INVALID_PRODUCER_EPOCH."""
    if error is ErrorCode.PRODUCER_FENCED and version < known_from:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error
