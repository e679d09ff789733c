"""ACLs, SASL and delegation tokens, asked for where there is no security."""

from __future__ import annotations

from ottla.protocol.apis.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.apis.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from ottla.protocol.apis.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.apis.describe_acls import DescribeAclsRequest
from ottla.protocol.apis.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from ottla.protocol.apis.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.protocol.apis.renew_delegation_token import RenewDelegationTokenRequest
from ottla.protocol.apis.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.apis.sasl_handshake import SaslHandshakeRequest
from tests.differential.case import Case, Step, case, step
from tests.differential.requests import metadata

# The numbers of ACLs: 0 is what a client did not know, 1 anything, 99 what nobody knows yet.
UNKNOWN, ANY, LITERAL, NEVER_HEARD = 0, 1, 3, 99


def describe_acls(
    version: int, *, resource: int = ANY, pattern: int = LITERAL, operation: int = ANY,
    permission: int = ANY,
) -> Step:  # fmt: skip
    return step(
        DescribeAclsRequest,
        version,
        lambda _: DescribeAclsRequest(
            resource_type_filter=resource,
            resource_name_filter=None,
            pattern_type_filter=pattern,
            principal_filter=None,
            host_filter=None,
            operation=operation,
            permission_type=permission,
        ),
    )


def create_acls(version: int, count: int, *, resource: int = 2, pattern: int = LITERAL) -> Step:
    acl = AclCreation(
        resource_type=resource,
        resource_name="orders",
        resource_pattern_type=pattern,
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=3,
    )
    return step(CreateAclsRequest, version, lambda _: CreateAclsRequest(creations=[acl] * count))


def delete_acls(version: int, count: int, *, operation: int = ANY, permission: int = ANY) -> Step:
    some = DeleteAclsFilter(
        resource_type_filter=ANY,
        resource_name_filter="orders",
        principal_filter=None,
        host_filter="*",
        operation=operation,
        permission_type=permission,
    )
    return step(DeleteAclsRequest, version, lambda _: DeleteAclsRequest(filters=[some] * count))


_ACLS = (
    *(case(f"acls-v{v}", describe_acls(v), create_acls(v, 2), delete_acls(v, 2)) for v in range(4)),
    case("acls-none", create_acls(3, 0), delete_acls(3, 0)),
    case(
        "acls-unknown-codes",
        describe_acls(2, resource=UNKNOWN),
        describe_acls(2, pattern=UNKNOWN),
        describe_acls(2, operation=UNKNOWN),
        describe_acls(2, permission=UNKNOWN),
        create_acls(2, 1, resource=UNKNOWN),
        create_acls(2, 1, pattern=UNKNOWN),
        delete_acls(2, 1, operation=UNKNOWN),
        delete_acls(2, 1, permission=UNKNOWN),
    ),
    case(
        "acls-codes-of-later",
        describe_acls(3, resource=NEVER_HEARD, pattern=NEVER_HEARD),
        create_acls(3, 1, resource=NEVER_HEARD),
        delete_acls(3, 1, operation=NEVER_HEARD),
    ),
)


def handshake(version: int, mechanism: str = "PLAIN") -> Step:
    return step(SaslHandshakeRequest, version, lambda _: SaslHandshakeRequest(mechanism=mechanism))


def authenticate(version: int) -> Step:
    request = SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret")
    return step(SaslAuthenticateRequest, version, lambda _: request)


_SASL = (
    case("sasl-handshake", handshake(0), handshake(1), handshake(1, "SCRAM-SHA-256")),
    case("sasl-handshake-unknown-mechanism", handshake(1, "ANYTHING"), handshake(1, "")),
    *(case(f"sasl-authenticate-v{v}", authenticate(v), metadata(1)) for v in range(3)),
)


def create_token(
    version: int, *, renewer_type: str = "User", owner: tuple[str | None, str | None] = ("", "")
) -> Step:
    return step(
        CreateDelegationTokenRequest,
        version,
        lambda _: CreateDelegationTokenRequest(
            owner_principal_type=owner[0],
            owner_principal_name=owner[1],
            renewers=[CreatableRenewers(principal_type=renewer_type, principal_name="bob")],
            max_lifetime_ms=-1,
        ),
    )


def renew_token(version: int) -> Step:
    request = RenewDelegationTokenRequest(hmac=b"no such", renew_period_ms=1000)
    return step(RenewDelegationTokenRequest, version, lambda _: request)


def expire_token(version: int) -> Step:
    request = ExpireDelegationTokenRequest(hmac=b"no such", expiry_time_period_ms=-1)
    return step(ExpireDelegationTokenRequest, version, lambda _: request)


def describe_tokens(version: int, *owners: str, everybody: bool = False) -> Step:
    named = [
        DescribeDelegationTokenOwner(principal_type="User", principal_name=owner)
        for owner in owners
    ]
    request = DescribeDelegationTokenRequest(owners=None if everybody else named)
    return step(DescribeDelegationTokenRequest, version, lambda _: request)


_TOKENS = (
    *(case(f"tokens-v{v}", create_token(v), describe_tokens(v, "alice")) for v in range(4)),
    *(case(f"tokens-renew-expire-v{v}", renew_token(v), expire_token(v)) for v in range(3)),
    case("tokens-of-everybody", describe_tokens(3, everybody=True), describe_tokens(3)),
    case(
        "tokens-for-others",
        create_token(3, owner=("User", "bob")),
        create_token(3, owner=("Group", "g")),
        create_token(3, owner=(None, None)),
        create_token(3, owner=("User", "")),
        create_token(3, renewer_type="Group"),
    ),
)

CASES: tuple[Case, ...] = (*_ACLS, *_SASL, *_TOKENS)
