"""DeleteAcls: without an authorizer there are no access rules to delete, and it says so."""

from __future__ import annotations

from ottla.handlers.acl_codes import hang_up_on_unknown, no_authorizer
from ottla.handlers.call import Call
from ottla.protocol.apis.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ottla.protocol.errors import KafkaError


def handle_delete_acls(request: DeleteAclsRequest, call: Call) -> DeleteAclsResponse | None:
    codes = (
        code
        for wanted in request.filters
        for code in (
            wanted.resource_type_filter,
            wanted.pattern_type_filter,
            wanted.operation,
            wanted.permission_type,
        )
    )
    if hang_up_on_unknown(call, *codes):
        return None
    raise no_authorizer()


def refuse(request: DeleteAclsRequest, error: KafkaError) -> DeleteAclsResponse:
    refused = DeleteAclsFilterResult(
        error_code=error.code, error_message=error.detail or None, matching_acls=[]
    )
    return DeleteAclsResponse(filter_results=[refused] * len(request.filters))
