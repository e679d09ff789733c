"""AlterUserScramCredentials: SCRAM credentials of users, set and deleted in the store.

A user is changed as a whole or not at all: all its changes are good ones, or none is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ottla.handlers.call import Call
from ottla.protocol.apis.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.security.scram import MECHANISMS, MOST_ITERATIONS, credential
from ottla.store import paths

Alteration = ScramCredentialDeletion | ScramCredentialUpsertion


async def handle_alter_user_scram_credentials(
    request: AlterUserScramCredentialsRequest, call: Call
) -> AlterUserScramCredentialsResponse:
    call.services.controller.check_active()
    results = []
    for user, alterations in _by_user(request).items():
        error: KafkaError | None = None
        try:
            await _alter(call, user, alterations)
        except KafkaError as refusal:
            error = refusal
        results.append(_result(user, error))
    return AlterUserScramCredentialsResponse(results=results)


def _by_user(request: AlterUserScramCredentialsRequest) -> dict[str, list[Alteration]]:
    found: dict[str, list[Alteration]] = {}
    alterations: list[Alteration] = [*request.deletions, *request.upsertions]
    for each in alterations:
        found.setdefault(each.name, []).append(each)
    return found


async def _alter(call: Call, user: str, alterations: list[Alteration]) -> None:
    for alteration in alterations:
        _check(alteration)
    counts = Counter(alteration.mechanism for alteration in alterations)
    if max(counts.values()) > 1:
        detail = "A user credential cannot be altered twice in the same request"
        raise KafkaError(ErrorCode.DUPLICATE_RESOURCE, detail)
    await call.services.configs.change(
        paths.entity_path({"users": user}), lambda before: _altered(before, alterations)
    )


def _check(alteration: Alteration) -> None:
    if not paths.is_node_name(alteration.name):
        detail = f"{alteration.name!r} is no name of a user"
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, detail)
    mechanism = MECHANISMS.get(alteration.mechanism)
    if mechanism is None:
        detail = f"{alteration.mechanism} is no SCRAM mechanism; expected one of {[*MECHANISMS]}"
        raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, detail)
    if isinstance(alteration, ScramCredentialUpsertion):
        fewest, given = mechanism.fewest_iterations, alteration.iterations
        if not fewest <= given <= MOST_ITERATIONS:
            detail = f"{given} iterations; expected {fewest} to {MOST_ITERATIONS}"
            raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, detail)
        if not alteration.salted_password:
            raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "an empty salted password")


def _altered(before: dict[str, str], alterations: list[Alteration]) -> Mapping[str, str]:
    after = dict(before)
    for alteration in alterations:
        mechanism = MECHANISMS[alteration.mechanism]
        if isinstance(alteration, ScramCredentialUpsertion):
            after[mechanism.mechanism_name] = credential(
                mechanism,
                salt=alteration.salt,
                salted_password=alteration.salted_password,
                iterations=alteration.iterations,
            ).encode()
        elif after.pop(mechanism.mechanism_name, None) is None:
            detail = f"{alteration.name!r} has no credential for {mechanism.mechanism_name}"
            raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, detail)
    return after


def _result(user: str, error: KafkaError | None) -> AlterUserScramCredentialsResult:
    return AlterUserScramCredentialsResult(
        user=user,
        error_code=error.code if error else ErrorCode.NONE,
        error_message=error.detail if error else "",
    )


def refuse(
    request: AlterUserScramCredentialsRequest, error: KafkaError
) -> AlterUserScramCredentialsResponse:
    return AlterUserScramCredentialsResponse(
        results=[_result(user, error) for user in _by_user(request)]
    )
