"""The way of a controller or coordinator to the broker it runs on: the broker's own handlers."""

from __future__ import annotations

from collections.abc import Callable

from ottla.handlers.dispatch import Dispatch
from ottla.network.connection import Connection
from ottla.network.memory import RequestMemory
from ottla.protocol.schema import Message
from ottla.timing.tick import Tick


class Loopback:
    """As any way to a broker: requests in, answers out, `OSError` if it cannot be reached."""

    def __init__(self, broker_id: int, dispatch: Dispatch, tick: Tick) -> None:
        self._broker_id = broker_id
        self._dispatch = dispatch
        # Handlers ask a call where it came from.
        self._connection = Connection(
            dispatch,
            tick,
            RequestMemory(),
            number=0,
            listener="",
            peer="this broker",
            max_request_bytes=0,
        )

    async def send(self, broker: int, request: Message) -> Message:
        if broker != self._broker_id:
            raise OSError(f"broker {broker} is not this one, and no other is connected")
        return await self._dispatch.ask(request, self._connection)

    def tell(self, request: Message, to: Callable[[Message], None]) -> None:
        """To this broker, and the answer when it comes, perhaps at once."""
        self._dispatch.tell(request, self._connection, to)
