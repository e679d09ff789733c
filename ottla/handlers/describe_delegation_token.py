"""DescribeDelegationToken: refused where clients are not authenticated."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.delegation_tokens import not_allowed
from ottla.protocol.apis.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ottla.protocol.errors import KafkaError


def handle_describe_delegation_token(
    request: DescribeDelegationTokenRequest, call: Call
) -> DescribeDelegationTokenResponse:
    raise not_allowed(call)


def refuse(
    request: DescribeDelegationTokenRequest, error: KafkaError
) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(error_code=error.code, tokens=[])
