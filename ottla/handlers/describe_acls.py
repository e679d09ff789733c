"""DescribeAcls: without an authorizer there are no access rules, and it says so."""

from __future__ import annotations

from ottla.handlers.acl_codes import hang_up_on_unknown, no_authorizer
from ottla.handlers.call import Call
from ottla.protocol.apis.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from ottla.protocol.errors import KafkaError


def handle_describe_acls(request: DescribeAclsRequest, call: Call) -> DescribeAclsResponse | None:
    if hang_up_on_unknown(
        call,
        request.resource_type_filter,
        request.pattern_type_filter,
        request.operation,
        request.permission_type,
    ):
        return None
    raise no_authorizer()


def refuse(request: DescribeAclsRequest, error: KafkaError) -> DescribeAclsResponse:
    return DescribeAclsResponse(
        error_code=error.code, error_message=error.detail or None, resources=[]
    )
