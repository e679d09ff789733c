"""What `--testing` adds to the HTTP port: faults for requests, and a clock that can be skewed.

POST /testing/faults?api=Produce&count=3&error=NOT_LEADER_OR_FOLLOWER&delay_ms=200
POST /testing/faults?api=Fetch&drop=true
POST /testing/faults/clear
POST /testing/clock?skew_ms=-3600000
"""

from __future__ import annotations

from ottla.broker.query import Query
from ottla.handlers import HANDLERS
from ottla.handlers.fault_injection import FaultInjection
from ottla.handlers.faults import Fault, Faults
from ottla.handlers.services import Services
from ottla.network.connection import Service
from ottla.network.http import Answer, Route, json_answer
from ottla.protocol.errors import ErrorCode
from ottla.protocol.registry import API_NAMES
from ottla.timing.clock import Clock, SkewedClock

_KEYS = {API_NAMES[key]: key for key in HANDLERS}
_ERRORS: dict[str, ErrorCode | None] = dict(ErrorCode.__members__)
_MOST = 1_000_000  # faults at once
_LONGEST_MS = 24 * 60 * 60 * 1000
_FARTHEST_MS = 100 * 365 * _LONGEST_MS


class Hooks:
    """What a test may do to a broker. If something in a query is wrong, nothing is done."""

    def __init__(self, clock: Clock) -> None:
        self.clock = SkewedClock(clock)
        self._faults = Faults()

    def stand_before(self, service: Service, services: Services) -> Service:
        return FaultInjection(service, services, self._faults)

    def get_routes(self) -> dict[str, Route]:
        return {"/testing/faults": lambda query: self._waiting()}

    def post_routes(self) -> dict[str, Route]:
        return {
            "/testing/faults": self._add,
            "/testing/faults/clear": self._clear,
            "/testing/clock": self._skew,
        }

    def _waiting(self) -> Answer:
        waiting = self._faults.waiting()
        return json_answer({"waiting": {API_NAMES[key]: waiting[key] for key in waiting}})

    def _add(self, parameters: dict[str, str]) -> Answer:
        query = Query(parameters)
        query.require("api")
        key = query.one_of("api", _KEYS, -1)
        count = query.number("count", 1, at_least=1, at_most=_MOST)
        fault = Fault(
            error=query.one_of("error", _ERRORS, None),
            delay_ms=query.number("delay_ms", 0, at_least=0, at_most=_LONGEST_MS),
            drops=query.one_of("drop", {"true": True, "false": False}, False),
        )
        query.nothing_but("api", "count", "error", "delay_ms", "drop")
        if not query.mistakes and fault == Fault():
            query.mistakes.append("a fault has an error, a delay_ms or drop=true")
        if fault.drops and fault.error is not None:
            query.mistakes.append("drop=true closes the connection, so there is no error to tell")
        if query.mistakes:
            return query.refusal()
        self._faults.add(key, fault, count=count)
        return self._waiting()

    def _clear(self, parameters: dict[str, str]) -> Answer:
        self._faults.clear()
        return self._waiting()

    def _skew(self, parameters: dict[str, str]) -> Answer:
        query = Query(parameters)
        query.require("skew_ms")
        skew_ms = query.number("skew_ms", 0, at_least=-_FARTHEST_MS, at_most=_FARTHEST_MS)
        query.nothing_but("skew_ms")
        if query.mistakes:
            return query.refusal()
        self.clock.skew_ms = skew_ms
        return json_answer({"skew_ms": skew_ms, "now_ms": self.clock.now_ms()})
