"""What all requests about delegation tokens hear on a listener that knows nobody by name."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.errors import ErrorCode, KafkaError

# Who connects without saying who it is.
ANONYMOUS_TYPE, ANONYMOUS_NAME = "User", "ANONYMOUS"
NO_TIME = -1


def not_allowed(call: Call) -> KafkaError:
    """A token speaks for its owner, so only who has proved who it is may ask for one."""
    detail = f"the listener {call.listener} does not authenticate its clients"
    return KafkaError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, detail)
