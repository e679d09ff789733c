"""The codes in requests about ACLs: what they may be, whether or not there are any ACLs."""

from __future__ import annotations

import logging

from ottla.handlers.call import Call
from ottla.protocol.errors import ErrorCode, KafkaError

UNKNOWN = 0

_logger = logging.getLogger(__name__)


def hang_up_on_unknown(call: Call, *codes: int) -> bool:
    """Whether it did: 0 is a code that its own sender did not know, and Kafka cannot read it."""
    if UNKNOWN not in codes:
        return False
    _logger.warning("%s sent an ACL with the unknown code 0; closing", call.connection.peer)
    call.connection.close()
    return True


def no_authorizer() -> KafkaError:
    return KafkaError(ErrorCode.SECURITY_DISABLED, "No authorizer is configured on the broker.")
