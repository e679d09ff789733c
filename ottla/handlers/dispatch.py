"""Request to handler to response; the one place where an exception becomes an error code."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from struct import Struct
from typing import Any, TypeVar

from ottla.handlers import HANDLERS, Handler, handler
from ottla.handlers.api_versions import answer_unknown_version
from ottla.handlers.call import Call, OwnCall
from ottla.handlers.metered_call import MeteredCall
from ottla.handlers.produce import PRODUCE, serve_produce
from ottla.handlers.services import Services
from ottla.handlers.slow_requests import SLOW_MS, name_if_slow, name_slow
from ottla.network.connection import Connection
from ottla.protocol.codec import decode_at
from ottla.protocol.errors import ErrorCode, KafkaError, ProtocolError
from ottla.protocol.headers import RequestHeader
from ottla.protocol.registry import API_NAMES, API_VERSIONS_KEY, request_header_version
from ottla.protocol.schema import Message
from ottla.storage.files import DiskFailed
from ottla.store.port import StoreUnavailable

_logger = logging.getLogger(__name__)
_HEAD = Struct(">hhi")

Spawn = Callable[[Coroutine[Any, Any, None]], object]
C = TypeVar("C", bound=Call)


class Dispatch:
    """Serves the frames of every connection. `spawn` runs handlers that must await something."""

    def __init__(self, services: Services, spawn: Spawn) -> None:
        self._services = services
        self._spawn = spawn

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        if end - start < _HEAD.size:
            cause = f"{end - start} bytes are too few for a header"
            raise ProtocolError(cause, reading="request header", path="correlation_id")
        key, version, correlation_id = _HEAD.unpack_from(connection.buffer, start)
        if key == PRODUCE and HANDLERS[PRODUCE][0] <= version <= HANDLERS[PRODUCE][1]:
            serve_produce(self._services, connection, start, end, version, correlation_id)
            return True
        if connection.waiting:
            return False  # only a produce may overtake
        served = HANDLERS.get(key)
        if served is None or not served[0] <= version <= served[1]:
            self._refuse_version(connection, key, version, correlation_id)
            return True
        frame = bytes(connection.view[start:end])
        header, position = decode_at(RequestHeader, frame, request_header_version(key, version))
        found = handler(key)
        request = found.read(frame, version, position) if found.read else None
        if request is None:
            request, _ = decode_at(found.request, frame, version, position)
        connection.client_id = header.client_id
        call = Call(
            connection,
            self._services,
            api_key=key,
            version=version,
            correlation_id=correlation_id,
            client_id=header.client_id,
        )
        call.begun_ns = self._services.timer.now_ns()
        requests = self._services.requests
        call.is_timed = requests.count(key, version)
        if self._services.quotas is not None:
            call = MeteredCall(call, frame_bytes=end - start)
        if found.shortcut:
            connection.shortcut = found.shortcut(
                request, self._services, frame=frame, version=version
            )
        self._run(found, request, call)
        if call.is_timed:
            times = requests.times(key, is_follower=call.is_follower)
            times.size_bytes.observe(end - start)
        return True

    def _refuse_version(
        self, connection: Connection, key: int, version: int, correlation_id: int
    ) -> None:
        if key == API_VERSIONS_KEY:
            # Here a client finds out what to speak: it must never be cut off.
            connection.answer([answer_unknown_version(correlation_id)])
            return
        name = API_NAMES.get(key, "an unknown API")
        cause = f"version {version} of {name} (key {key}) is not served"
        raise ProtocolError(cause, reading="request header", path="request_api_version")

    def _run(self, found: Handler, request: Message, call: Call) -> None:
        if found.is_async:
            call.park()
            call.connection.owe(call, blocks=True)
            self._spawn(self._await(found, request, call, found.handle(request, call)))
            return
        try:
            response = found.handle(request, call)
        except Exception as error:
            response = self._refuse(found, request, error)
        if isinstance(response, Coroutine):  # it could not answer at once, as it mostly can
            call.park()
            call.connection.owe(call, blocks=True)
            self._spawn(self._await(found, request, call, response))
            return
        if response is not None:
            call.reply(response)
        if call.pieces is None:
            call.park()
            if isinstance(call, MeteredCall):
                call.stop_clock()
            call.connection.owe(call, blocks=True)
        else:
            call.connection.answer(call.pieces)
        name_if_slow(call, ", and all others waited")

    async def _await(
        self, found: Handler, request: Message, call: Call, answering: Coroutine[Any, Any, Any]
    ) -> None:
        # Named while it waits: if it waits for ever, that has to be seen too.
        slow = self._services.timer.call_after(
            SLOW_MS, lambda: name_slow(call, f"takes longer than {SLOW_MS} ms")
        )
        try:
            response = await (call.timed(answering) if isinstance(call, MeteredCall) else answering)
        except Exception as error:
            response = self._refuse(found, request, error)
        finally:
            slow.cancel()
        if response is None:
            return
        try:
            call.reply(response)
        except Exception:
            # One that cannot be encoded: nobody is above us but the broker itself.
            _logger.exception("%s has no answer; closing", found.name)
            call.connection.close()

    async def ask(self, request: Message, connection: Connection) -> Message:
        """A request of this broker to itself: the same handler, without the bytes."""
        found, call = handler(request.api_key), self._own_call(Call, request, connection)
        try:
            response = found.handle(request, call)
            if isinstance(response, Coroutine):
                response = await response
        except Exception as error:
            response = self._refuse(found, request, error)
        assert isinstance(response, Message)
        return response

    def tell(self, request: Message, connection: Connection, to: Callable[[Message], None]) -> None:
        """As `ask`, of a handler that never awaits: it answers at once or later."""
        found, call = handler(request.api_key), self._own_call(OwnCall, request, connection)
        call.to = to
        try:
            response = found.handle(request, call)
        except Exception as error:
            response = self._refuse(found, request, error)
        if response is not None:
            call.reply(response)

    def _own_call(self, kind: type[C], request: Message, connection: Connection) -> C:
        return kind(
            connection,
            self._services,
            api_key=request.api_key,
            version=HANDLERS[request.api_key][1],
            correlation_id=0,
            client_id=str(self._services.broker_id),
        )

    def _refuse(self, found: Handler, request: Message, error: Exception) -> Message:
        """A refusal that the client must hear, or a bug of ours: it hears of that too."""
        if isinstance(error, DiskFailed):
            self._services.replicas.disk_failed(error)
            error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
        if isinstance(error, StoreUnavailable):
            _logger.error("%s failed: %s", found.name, error)
            error = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error))
        if not isinstance(error, KafkaError):
            _logger.error("%s failed", found.name, exc_info=error)
            self._services.requests.failures += 1
            error = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        response: Message = found.refuse(request, error)
        return response
