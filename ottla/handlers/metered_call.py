"""A request of a broker that has quotas: its bytes and its time are counted when it is answered.

The answer says how long its client must rest and leaves at once; until then the connection is
muted (KIP-219).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any

from ottla.handlers.call import Call
from ottla.network.pieces import Piece
from ottla.protocol.schema import Message
from ottla.security.quotas import ClientQuotas, MutationQuota, Quotas, Sensor, percent

_PRODUCE = 0
# What brokers ask of each other; a follower's Fetch, too.
_CLUSTER_ACTIONS = (4, 5, 6, 7, 27, 56)


class MeteredCall(Call):
    """As any call; handlers see no difference, except those of produce and fetch."""

    __slots__ = (
        "_begun_ns", "_mutations", "_quotas", "_spent_ns", "_throttle_ms", "frame_bytes",
        "is_exempt",
    )  # fmt: skip

    def __init__(self, call: Call, *, frame_bytes: int) -> None:
        services = call.services
        super().__init__(
            call.connection,
            services,
            api_key=call.api_key,
            version=call.version,
            correlation_id=call.correlation_id,
            client_id=call.client_id,
        )
        assert services.quotas is not None
        self._quotas: Quotas = services.quotas
        self.is_timed = call.is_timed
        self.begun_ns = call.begun_ns
        self._begun_ns: int | None = call.begun_ns
        self._spent_ns = 0
        self._mutations: MutationQuota | None = None
        self._throttle_ms: int | None = None
        self.frame_bytes = frame_bytes
        self.is_exempt = call.api_key in _CLUSTER_ACTIONS

    def stop_clock(self) -> None:
        """The request waits now, and takes nobody's time."""
        if self._begun_ns is not None:
            self._spent_ns += self.services.timer.now_ns() - self._begun_ns
            self._begun_ns = None

    def start_clock(self) -> None:
        self._begun_ns = self.services.timer.now_ns()

    def timed(self, answering: Coroutine[Any, Any, Any]) -> _Timed:
        return _Timed(answering, self)

    def is_limited(self) -> bool:
        """Who has a limit is served one request after the other, as by Kafka."""
        return self.sensor(self._quotas.produce) is not None

    def sensor(self, quotas: ClientQuotas) -> Sensor | None:
        now_ms = self.services.timer.now_ms()
        return quotas.sensor(self.connection.user, self.client_id or "", now_ms)

    def mutation_quota(self, *, strict_from: int | None) -> Callable[[int], None]:
        is_strict = strict_from is not None and self.version >= strict_from
        mutations = MutationQuota(self.sensor(self._quotas.mutation), is_strict=is_strict)
        if strict_from is not None:  # else it is an answer's side effect, and the answer is free
            self._mutations = mutations
        return lambda count: mutations.spend(count, self.services.timer.now_ms())

    def reply(self, response: Message, *, may_hold_errors: bool = True) -> None:
        self.throttle(response)
        super().reply(response, may_hold_errors=may_hold_errors)

    def reply_with(self, pieces: list[Piece]) -> None:
        if self.api_key == _PRODUCE and not pieces:
            self.throttle(None)  # acks=0: nobody hears of it, but it rests all the same
        super().reply_with(pieces)

    def throttle(self, response: Message | None) -> None:
        """Once for each answer, before it is encoded. Mutes the connection, if it has to rest."""
        if self._throttle_ms is not None:
            return
        now_ms = self.services.timer.now_ms()
        asked = [self._request_time(now_ms)] if response is not None else []
        if self.api_key == _PRODUCE:
            asked.append(self._record(self._quotas.produce, self.frame_bytes, now_ms))
        if self._mutations is not None:
            sensor, rest_ms = self._mutations.sensor, self._mutations.throttle_ms(now_ms)
            asked.append((rest_ms, self._quotas.mutation, sensor))
        self._rest(asked, now_ms)
        if response is not None and hasattr(response, "throttle_time_ms"):
            response.throttle_time_ms = self._throttle_ms

    def throttle_fetch(self, size_bytes: int) -> int:
        """For how long an answer of this size has to be put off: an empty one goes out instead."""
        now_ms = self.services.timer.now_ms()
        fetch = self._quotas.fetch
        asked = [self._request_time(now_ms), self._record(fetch, size_bytes, now_ms)]
        rest_ms = self._rest(asked, now_ms)
        sensor = asked[1][2]
        if rest_ms and sensor is not None:
            sensor.rate.record(-size_bytes, now_ms)
        return rest_ms

    @property
    def most_fetch_bytes(self) -> float:
        """More at once would be throttled for sure, and perhaps for ever."""
        return self._quotas.fetch.most_in_windows(self.sensor(self._quotas.fetch))

    def _request_time(self, now_ms: int) -> _Asked:
        self.stop_clock()
        request = self._quotas.request
        if not self.is_exempt:
            return self._record(request, percent(self._spent_ns), now_ms)
        if request.bounds:
            self._quotas.exempt.record(percent(self._spent_ns), now_ms)
        return 0, request, None

    def _record(self, quotas: ClientQuotas, value: float, now_ms: int) -> _Asked:
        sensor = self.sensor(quotas)
        return quotas.record(sensor, value, now_ms), quotas, sensor

    def _rest(self, asked: list[_Asked], now_ms: int) -> int:
        """The longest time counts, and is booked where it comes from."""
        rest_ms, quotas, sensor = max(asked, key=lambda each: each[0])
        self._throttle_ms = rest_ms
        requests = self.services.requests
        requests.times(self.api_key, is_follower=self.is_follower).throttle_ms.observe(rest_ms)
        if rest_ms > 0:
            quotas.throttled(sensor, rest_ms, now_ms)
            self.connection.mute(self.services.timer, rest_ms)
        return rest_ms


_Asked = tuple[int, ClientQuotas, Sensor | None]


class _Timed(Generator[Any, Any, Any]):
    """Awaits a coroutine; the call's clock runs only while the coroutine does."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], call: MeteredCall) -> None:
        self._coroutine = coroutine
        self._call = call

    def __await__(self) -> _Timed:
        return self

    def send(self, value: object) -> Any:
        return self._step(lambda: self._coroutine.send(value))

    def throw(self, *error: Any) -> Any:
        return self._step(lambda: self._coroutine.throw(*error))

    def _step(self, step: Callable[[], Any]) -> Any:
        self._call.start_clock()
        try:
            return step()
        finally:
            self._call.stop_clock()
