"""DescribeUserScramCredentials: which mechanisms a user may log in with; never the secrets."""

from __future__ import annotations

import logging
from collections import Counter

from ottla.handlers.call import Call
from ottla.protocol.apis.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.security.scram import ScramCredential, ScramMechanism
from ottla.store import paths

_logger = logging.getLogger(__name__)


async def handle_describe_user_scram_credentials(
    request: DescribeUserScramCredentialsRequest, call: Call
) -> DescribeUserScramCredentialsResponse:
    if not request.users:
        results = await _describe_all(call)
    else:
        counts = Counter(user.name for user in request.users)
        results = [await _describe(call, user, count) for user, count in counts.items()]
    return DescribeUserScramCredentialsResponse(error_message="", results=results)


async def _describe_all(call: Call) -> list[DescribeUserScramCredentialsResult]:
    """Of the users that have any."""
    names = [paths.entity_names(entity) for entity in await call.services.configs.entities()]
    users = [user for each in names if list(each) == ["users"] and (user := each["users"])]
    results = [await _describe(call, user, 1) for user in users]
    return [each for each in results if each.error_code != ErrorCode.RESOURCE_NOT_FOUND]


async def _describe(call: Call, user: str, count: int) -> DescribeUserScramCredentialsResult:
    try:
        if not paths.is_node_name(user):
            raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, f"{user!r} is no name of a user")
        if count > 1:
            detail = f"Cannot describe the credentials of {user!r} twice in one request"
            raise KafkaError(ErrorCode.DUPLICATE_RESOURCE, detail)
        infos = _infos(user, await call.services.configs.read(paths.entity_path({"users": user})))
    except KafkaError as refusal:
        return DescribeUserScramCredentialsResult(
            user=user,
            error_code=refusal.code,
            error_message=refusal.detail,
            credential_infos=[],
        )
    return DescribeUserScramCredentialsResult(user=user, error_message="", credential_infos=infos)


def _infos(user: str, values: dict[str, str]) -> list[CredentialInfo]:
    try:
        infos = [
            CredentialInfo(
                mechanism=mechanism.number, iterations=ScramCredential.decode(text).iterations
            )
            for mechanism in ScramMechanism
            if (text := values.get(mechanism.mechanism_name))
        ]
    except ValueError as error:
        _logger.error("the stored credentials of %r cannot be read: %s", user, error)
        detail = f"the stored credentials of {user!r} cannot be read; set them anew"
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, detail) from error
    if not infos:
        detail = f"the user {user!r} has no SCRAM credentials"
        raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, detail)
    return infos


def refuse(
    request: DescribeUserScramCredentialsRequest, error: KafkaError
) -> DescribeUserScramCredentialsResponse:
    return DescribeUserScramCredentialsResponse(
        error_code=error.code, error_message=error.detail or None, results=[]
    )
