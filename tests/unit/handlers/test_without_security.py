"""Requests of secured clusters, put to a broker without security: it says so, in every version."""

from __future__ import annotations

import pytest

from ottla.handlers import HANDLERS
from ottla.protocol.apis.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from ottla.protocol.apis.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ottla.protocol.apis.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ottla.protocol.apis.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from ottla.protocol.apis.describe_delegation_token import DescribeDelegationTokenRequest
from ottla.protocol.apis.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.protocol.apis.renew_delegation_token import RenewDelegationTokenRequest
from ottla.protocol.apis.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.apis.sasl_handshake import SaslHandshakeRequest
from ottla.protocol.errors import ErrorCode
from ottla.protocol.schema import Message
from tests.unit.handlers.one_broker import one_broker
from tests.virtual_time import on_virtual_time

NO_TOKENS = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def describe_acls(operation: int = 1) -> DescribeAclsRequest:
    return DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=operation,
        permission_type=1,
    )


def create_acls(operation: int = 3) -> CreateAclsRequest:
    acl = AclCreation(
        resource_type=2,
        resource_name="orders",
        principal="User:alice",
        host="*",
        operation=operation,
        permission_type=3,
    )
    return CreateAclsRequest(creations=[acl, acl])


def delete_acls(operation: int = 1) -> DeleteAclsRequest:
    some = DeleteAclsFilter(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=operation,
        permission_type=1,
    )
    return DeleteAclsRequest(filters=[some])


REFUSED: tuple[tuple[Message, ErrorCode], ...] = (
    (describe_acls(), ErrorCode.SECURITY_DISABLED),
    (SaslHandshakeRequest(mechanism="PLAIN"), ErrorCode.ILLEGAL_SASL_STATE),
    (SaslAuthenticateRequest(auth_bytes=b"\0a\0b"), ErrorCode.ILLEGAL_SASL_STATE),
    (CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1), NO_TOKENS),
    (RenewDelegationTokenRequest(hmac=b"a", renew_period_ms=1), NO_TOKENS),
    (ExpireDelegationTokenRequest(hmac=b"a", expiry_time_period_ms=-1), NO_TOKENS),
    (DescribeDelegationTokenRequest(owners=None), NO_TOKENS),
)


@pytest.mark.parametrize(
    ("request_", "version", "code"),
    [
        (request, version, code)
        for request, code in REFUSED
        for version in range(HANDLERS[request.api_key][1] + 1)
    ],
)
@on_virtual_time
async def test_what_needs_security_is_refused(
    request_: Message, version: int, code: ErrorCode
) -> None:
    async with one_broker() as broker:
        answer = await broker.client.ask(request_, version)
        assert getattr(answer, "error_code", None) == code


@on_virtual_time
async def test_every_acl_of_a_request_is_refused() -> None:
    async with one_broker() as broker:
        created = await broker.ask(create_acls(), CreateAclsResponse)
        assert [each.error_code for each in created.results] == [ErrorCode.SECURITY_DISABLED] * 2
        deleted = await broker.ask(delete_acls(), DeleteAclsResponse)
        codes = [each.error_code for each in deleted.filter_results]
        assert codes == [ErrorCode.SECURITY_DISABLED]


@pytest.mark.parametrize("request_", [describe_acls(0), create_acls(0), delete_acls(0)])
@on_virtual_time
async def test_a_code_that_its_sender_did_not_know_ends_the_connection(request_: Message) -> None:
    async with one_broker() as broker:
        unanswered = broker.client.ask(request_)
        assert broker.client.connection.is_closed
        assert not unanswered.done()
        unanswered.cancel()


@on_virtual_time
async def test_a_token_is_refused_in_the_name_of_whom_it_was_for() -> None:
    async with one_broker() as broker:
        request = CreateDelegationTokenRequest(
            owner_principal_type="User", owner_principal_name="bob", renewers=[], max_lifetime_ms=1
        )
        answer = await broker.ask(request, CreateDelegationTokenResponse)
        assert (answer.principal_name, answer.token_requester_principal_name) == (
            "bob",
            "ANONYMOUS",
        )


@on_virtual_time
async def test_describing_acls_says_why_there_are_none() -> None:
    async with one_broker() as broker:
        answer = await broker.ask(describe_acls(), DescribeAclsResponse)
        assert answer.resources == []
        assert "No authorizer" in (answer.error_message or "")
