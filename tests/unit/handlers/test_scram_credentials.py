"""SCRAM credentials of users: set, told of, deleted, in the nodes where Kafka keeps them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ottla.protocol.apis.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.apis.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)
from ottla.protocol.errors import ErrorCode
from ottla.store import paths
from ottla.store.znodes import Config
from tests.unit.handlers.one_broker import OneBroker, one_broker
from tests.virtual_time import on_virtual_time

SHA_256, SHA_512 = 1, 2


def upsertion(
    user: str, mechanism: int = SHA_256, *, iterations: int = 4096, salted: bytes = b"salted"
) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=user,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salty",
        salted_password=salted,
    )


def deletion(user: str, mechanism: int = SHA_256) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=user, mechanism=mechanism)


async def alter(
    broker: OneBroker, *alterations: ScramCredentialUpsertion | ScramCredentialDeletion
) -> dict[str, int]:
    request = AlterUserScramCredentialsRequest(
        deletions=[each for each in alterations if isinstance(each, ScramCredentialDeletion)],
        upsertions=[each for each in alterations if isinstance(each, ScramCredentialUpsertion)],
    )
    answer = await broker.ask(request, AlterUserScramCredentialsResponse)
    assert all(bool(each.error_message) == bool(each.error_code) for each in answer.results)
    return {each.user: each.error_code for each in answer.results}


async def describe(
    broker: OneBroker, users: Sequence[str] | None
) -> dict[str, int | dict[int, int]]:
    """By user, an error or the iterations of each mechanism."""
    names = None if users is None else [UserName(name=user) for user in users]
    request = DescribeUserScramCredentialsRequest(users=names)
    answer = await broker.ask(request, DescribeUserScramCredentialsResponse)
    assert answer.error_code == ErrorCode.NONE
    return {
        each.user: each.error_code
        or {info.mechanism: info.iterations for info in each.credential_infos}
        for each in answer.results
    }


async def stored(broker: OneBroker, user: str) -> dict[str, str] | None:
    path = paths.config(paths.entity_path({"users": user}))
    entry = await broker.store.read(path)
    return None if entry is None else dict(Config.decode(entry.data, path).values)


@on_virtual_time
async def test_credentials_are_set_told_of_and_deleted() -> None:
    async with one_broker() as broker:
        assert await describe(broker, None) == {}
        assert await alter(broker, upsertion("alice"), upsertion("Bäcker", SHA_512)) == {
            "alice": 0,
            "Bäcker": 0,
        }
        assert await alter(broker, upsertion("alice", SHA_512, iterations=16384)) == {"alice": 0}
        alices = {SHA_256: 4096, SHA_512: 16384}
        assert await describe(broker, []) == {"alice": alices, "Bäcker": {SHA_512: 4096}}
        assert await describe(broker, ["alice", "bob", "bob"]) == {
            "alice": alices,
            "bob": ErrorCode.DUPLICATE_RESOURCE,
        }
        assert await alter(broker, deletion("alice", SHA_512), deletion("bob")) == {
            "alice": 0,
            "bob": ErrorCode.RESOURCE_NOT_FOUND,
        }
        assert await describe(broker, ["alice"]) == {"alice": {SHA_256: 4096}}
        assert list(await stored(broker, "alice") or ()) == ["SCRAM-SHA-256"]
        await alter(broker, deletion("alice"))
        assert await stored(broker, "alice") is None


@on_virtual_time
async def test_only_the_controller_changes_them_and_every_broker_tells_of_them() -> None:
    async with one_broker() as broker:
        await alter(broker, upsertion("alice"))
        broker.broker.controller._resign()
        assert await alter(broker, deletion("alice")) == {"alice": ErrorCode.NOT_CONTROLLER}
        assert await describe(broker, None) == {"alice": {SHA_256: 4096}}


@on_virtual_time
async def test_quotas_of_the_user_stay_as_they_are() -> None:
    async with one_broker() as broker:
        await broker.services.configs.change("users/alice", lambda _: {"producer_byte_rate": "1"})
        assert await describe(broker, None) == {}
        await alter(broker, upsertion("alice"))
        assert await describe(broker, None) == {"alice": {SHA_256: 4096}}
        await alter(broker, deletion("alice"))
        assert await stored(broker, "alice") == {"producer_byte_rate": "1"}


@pytest.mark.parametrize(
    ("alteration", "code"),
    [
        (upsertion("alice", iterations=4095), ErrorCode.UNACCEPTABLE_CREDENTIAL),
        (upsertion("alice", SHA_512, iterations=16385), ErrorCode.UNACCEPTABLE_CREDENTIAL),
        (upsertion("alice", salted=b""), ErrorCode.UNACCEPTABLE_CREDENTIAL),
        (upsertion(""), ErrorCode.UNACCEPTABLE_CREDENTIAL),
        (deletion(".."), ErrorCode.UNACCEPTABLE_CREDENTIAL),
        (upsertion("alice", 0), ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        (deletion("alice", 3), ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        (upsertion("alice", SHA_512), ErrorCode.DUPLICATE_RESOURCE),
    ],
)
@on_virtual_time
async def test_of_one_bad_alteration_the_whole_user_is_refused(
    alteration: ScramCredentialUpsertion | ScramCredentialDeletion, code: ErrorCode
) -> None:
    async with one_broker() as broker:
        good = upsertion(alteration.name, SHA_512)
        found = await alter(broker, good, alteration, upsertion("bob"))
        assert found == {alteration.name: code, "bob": 0}
        assert await describe(broker, None) == {"bob": {SHA_256: 4096}}


@on_virtual_time
async def test_what_nobody_can_read_is_told_and_can_be_replaced() -> None:
    async with one_broker() as broker:
        await broker.services.configs.change("users/alice", lambda _: {"SCRAM-SHA-256": "secret"})
        assert await describe(broker, ["alice", "."]) == {
            "alice": ErrorCode.UNKNOWN_SERVER_ERROR,
            ".": ErrorCode.RESOURCE_NOT_FOUND,
        }
        await alter(broker, upsertion("alice"))
        assert await describe(broker, ["alice"]) == {"alice": {SHA_256: 4096}}
