"""What a broker refused, as an error that carries the broker's own words."""

from __future__ import annotations

from ottla.protocol.errors import ErrorCode, KafkaError


def refusal(code: int, message: str | None = None) -> KafkaError:
    """The broker's message, or what the code means where the broker says no more."""
    try:
        known = ErrorCode(code)
    except ValueError:
        detail = f"error code {code}, which Ottla does not know. {message or ''}".rstrip()
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, detail)
    return KafkaError(known, message or known.meaning)
