"""Stands before the dispatch of a broker under test, and lets faults happen to its requests.

A broker that is not under test has none of this: its connections hand requests to the dispatch.
"""

from __future__ import annotations

from dataclasses import replace
from struct import Struct

from ottla.handlers import HANDLERS, handler
from ottla.handlers.call import Call
from ottla.handlers.faults import Fault, Faults
from ottla.handlers.produce import PRODUCE
from ottla.handlers.services import Services
from ottla.network.connection import Connection, Service
from ottla.network.pieces import Piece
from ottla.protocol.apis.produce import ProduceRequest
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.framing import decode_request

_HEAD = Struct(">hhi")


class _Hold:
    """Keeps the place of a delayed request among the answers: those behind it wait too."""

    def __init__(self) -> None:
        self.pieces: list[Piece] | None = None


class FaultInjection:
    """A service before the service: what meets no fault goes on to it as it came."""

    def __init__(self, service: Service, services: Services, faults: Faults) -> None:
        self._service = service
        self._services = services
        self._faults = faults
        self._delayed: dict[Connection, Fault] = {}  # what is left to happen after the delay

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        fault = self._fault(connection, start, end)
        if fault is None:
            return self._pass_on(connection, start, end)
        if fault.delay_ms:
            self._delay(connection, fault)
            return False  # it stays in the buffer, and comes again
        if fault.drops:
            connection.close()
        elif fault.error is not None:
            self._refuse(connection, bytes(connection.view[start:end]), fault.error)
        else:
            return self._pass_on(connection, start, end)
        return True

    def _pass_on(self, connection: Connection, start: int, end: int) -> bool:
        is_served = self._service.serve(connection, start, end)
        connection.shortcut = None  # it would pass us by, and the next request may meet a fault
        return is_served

    def _fault(self, connection: Connection, start: int, end: int) -> Fault | None:
        """None too if it is no request that could be served now: it has not met its fault yet."""
        if connection in self._delayed:
            return self._delayed.pop(connection)
        if end - start < _HEAD.size:
            return None
        key, version, _ = _HEAD.unpack_from(connection.buffer, start)
        oldest, newest = HANDLERS.get(key, (0, -1))
        may_overtake = key == PRODUCE or not connection.waiting
        return self._faults.take(key) if may_overtake and oldest <= version <= newest else None

    def _delay(self, connection: Connection, fault: Fault) -> None:
        hold = _Hold()
        self._delayed[connection] = replace(fault, delay_ms=0)
        connection.owe(hold, blocks=True)

        def release() -> None:
            hold.pieces = []
            connection.settle()
            if connection.is_closed:
                self._delayed.pop(connection, None)

        self._services.timer.call_after(fault.delay_ms, release)

    def _refuse(self, connection: Connection, frame: bytes, error: ErrorCode) -> None:
        header, request, _ = decode_request(frame)
        key, version = header.request_api_key, header.request_api_version
        connection.client_id = header.client_id
        self._services.requests.count(key, version)
        if isinstance(request, ProduceRequest) and request.acks == 0:
            connection.close()  # nobody waits for an answer: so end all refusals of such a request
            return
        call = Call(
            connection,
            self._services,
            api_key=key,
            version=version,
            correlation_id=header.correlation_id,
            client_id=header.client_id,
        )
        connection.owe(call, blocks=False)
        refusal = KafkaError(error, "a fault that a test asked for")
        call.reply(handler(key).refuse(request, refusal))
