"""CreateAcls: without an authorizer nobody keeps access rules, and it says so."""

from __future__ import annotations

from ottla.handlers.acl_codes import hang_up_on_unknown, no_authorizer
from ottla.handlers.call import Call
from ottla.protocol.apis.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from ottla.protocol.errors import KafkaError


def handle_create_acls(request: CreateAclsRequest, call: Call) -> CreateAclsResponse | None:
    codes = (
        code
        for acl in request.creations
        for code in (
            acl.resource_type,
            acl.resource_pattern_type,
            acl.operation,
            acl.permission_type,
        )
    )
    if hang_up_on_unknown(call, *codes):
        return None
    raise no_authorizer()


def refuse(request: CreateAclsRequest, error: KafkaError) -> CreateAclsResponse:
    refused = AclCreationResult(error_code=error.code, error_message=error.detail or None)
    return CreateAclsResponse(results=[refused] * len(request.creations))
