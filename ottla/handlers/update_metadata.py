"""UpdateMetadata: the controller tells who is alive and who leads what."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.controller_request import check_controller
from ottla.protocol.apis.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from ottla.protocol.errors import KafkaError


def handle_update_metadata(request: UpdateMetadataRequest, call: Call) -> UpdateMetadataResponse:
    check_controller(call.services, request.controller_epoch, request.broker_epoch)
    call.services.metadata.update(request)
    return UpdateMetadataResponse()


def refuse(request: UpdateMetadataRequest, error: KafkaError) -> UpdateMetadataResponse:
    return UpdateMetadataResponse(error_code=error.code)
