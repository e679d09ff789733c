"""ApiVersions: what this broker serves, read off `HANDLERS`."""

from __future__ import annotations

import re

from ottla.handlers import HANDLERS
from ottla.handlers.call import Call
from ottla.protocol.apis.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.framing import encode_response
from ottla.protocol.registry import API_VERSIONS_KEY

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle_api_versions(request: ApiVersionsRequest, call: Call) -> ApiVersionsResponse:
    if call.version >= 3:
        for text in (request.client_software_name, request.client_software_version):
            if not _SOFTWARE.fullmatch(text):
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"the client software is {text!r}")
        call.connection.software = (request.client_software_name, request.client_software_version)
    # A ZooKeeper-mode broker has finalized no features, and says so with an epoch.
    return ApiVersionsResponse(api_keys=_served(), finalized_features_epoch=0)


def _served() -> list[ApiVersion]:
    return [
        ApiVersion(api_key=key, min_version=oldest, max_version=newest)
        for key, (oldest, newest) in sorted(HANDLERS.items())
    ]


def answer_unknown_version(correlation_id: int) -> bytes:
    """In version 0, which every client reads, with the versions of this one API (KIP-511)."""
    oldest, newest = HANDLERS[API_VERSIONS_KEY]
    own = ApiVersion(api_key=API_VERSIONS_KEY, min_version=oldest, max_version=newest)
    response = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[own])
    return encode_response(response, 0, correlation_id=correlation_id)


def refuse(request: ApiVersionsRequest, error: KafkaError) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=error.code, api_keys=[])
