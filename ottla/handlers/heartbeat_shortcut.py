"""The heartbeat that looks like the one before it: a member repeats it until it rejoins."""

from __future__ import annotations

from functools import partial

from ottla.handlers.repeated import HEAD_BYTES, KEY_AND_VERSION, Repeated
from ottla.handlers.services import Services
from ottla.network.connection import Connection
from ottla.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import encode_response

_HEARTBEAT = 12


class HeartbeatShortcut:
    """For one connection, version, client, member and generation."""

    __slots__ = ("_answer", "_frame_bytes", "_key_and_version", "_request", "_rest", "_services",
                 "_version")  # fmt: skip

    def __init__(
        self, services: Services, request: HeartbeatRequest, *, frame: bytes, version: int
    ) -> None:
        self._services = services
        self._request = request
        self._version = version
        self._frame_bytes = len(frame)
        self._key_and_version = KEY_AND_VERSION.pack(_HEARTBEAT, version)
        self._rest = frame[HEAD_BYTES:]
        self._answer: bytes | None = None  # the first repetition makes it

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        buffer = connection.buffer
        if (
            end - start != self._frame_bytes
            or connection.waiting
            or buffer[start : start + 4] != self._key_and_version
            or buffer[start + HEAD_BYTES : end] != self._rest
        ):
            return False
        services, request = self._services, self._request
        services.requests.count(_HEARTBEAT, self._version)
        repeated = Repeated(connection, start)
        services.groups.heartbeat(
            request.group_id,
            member_id=request.member_id,
            instance_id=request.group_instance_id,
            generation=request.generation_id,
            to=partial(self._reply, repeated),
        )
        repeated.served()
        return True

    def _reply(self, repeated: Repeated, error: ErrorCode) -> None:
        if error is not ErrorCode.NONE:
            self._services.requests.count_errors(_HEARTBEAT, (error,))
            repeated.reply(self._encode(error, repeated.correlation_id))
            return
        if self._answer is None:
            self._answer = self._encode(ErrorCode.NONE, repeated.correlation_id)
        repeated.reply_as(self._answer)

    def _encode(self, error: ErrorCode, correlation_id: int) -> bytes:
        response = HeartbeatResponse(error_code=error)
        return encode_response(response, self._version, correlation_id=correlation_id)


def shortcut_for(
    request: HeartbeatRequest, services: Services, *, frame: bytes, version: int
) -> HeartbeatShortcut | None:
    """None while quotas count each request."""
    if services.quotas is not None:
        return None
    return HeartbeatShortcut(services, request, frame=frame, version=version)
