"""A change of configuration that a client must hear was refused."""

from __future__ import annotations

# Kafka's error codes by number, for this layer does not know the protocol.
INVALID_CONFIG = 40
INVALID_REQUEST = 42


class ConfigRefused(Exception):
    """`code` is what the client hears: INVALID_CONFIG or INVALID_REQUEST, as Kafka chooses."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
