"""How the controller's requests reach the brokers: one queue each, one request under way.

A request is tried again until it is answered or its broker is gone, for the broker's part in the
cluster is right only when it has heard everything in order.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Protocol

from ottla.protocol.schema import Message

RETRY_BACKOFF_SECONDS = 0.1

log = logging.getLogger(__name__)

Answered = Callable[[int, Message, Message], None]


class Brokers(Protocol):
    """The other brokers, and this one."""

    async def send(self, broker: int, request: Message) -> Message:
        """The broker's answer; `OSError` when it cannot be reached."""


class _Queue:
    def __init__(self) -> None:
        self.requests: deque[Message] = deque()  # the first one is under way
        self.filled = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class Senders:
    """Tasks live in the group of whoever calls `start`; `answered` is told broker and request."""

    def __init__(self, brokers: Brokers, answered: Answered) -> None:
        self._brokers = brokers
        self._answered = answered
        self._queues: dict[int, _Queue] = {}
        self._group: asyncio.TaskGroup | None = None

    @property
    def idle(self) -> bool:
        return not any(queue.requests for queue in self._queues.values())

    def unsent_counts(self) -> dict[int, int]:
        return {broker: len(queue.requests) for broker, queue in self._queues.items()}

    def start(self, group: asyncio.TaskGroup) -> None:
        self._group = group

    def add(self, broker: int) -> None:
        assert self._group is not None, "senders are started before a broker is added"
        if broker not in self._queues:
            queue = self._queues[broker] = _Queue()
            queue.task = self._group.create_task(
                self._deliver(broker, queue), name=f"controller to broker {broker}"
            )

    def remove(self, broker: int) -> None:
        queue = self._queues.pop(broker, None)
        if queue and queue.task:
            queue.task.cancel()

    def stop(self) -> None:
        for broker in list(self._queues):
            self.remove(broker)

    def put(self, broker: int, request: Message) -> None:
        queue = self._queues.get(broker)
        if queue is not None:
            queue.requests.append(request)
            queue.filled.set()

    async def _deliver(self, broker: int, queue: _Queue) -> None:
        while True:
            while queue.requests:
                request = queue.requests[0]
                answer = await self._answer(broker, request)
                queue.requests.popleft()
                self._answered(broker, request, answer)
            queue.filled.clear()
            await queue.filled.wait()

    async def _answer(self, broker: int, request: Message) -> Message:
        failures = 0
        while True:
            try:
                return await self._brokers.send(broker, request)
            except OSError as error:
                failures += 1
                if failures == 1:  # once is enough: the broker may be away for hours
                    log.warning("broker %d does not answer: %s; trying again", broker, error)
            await asyncio.sleep(RETRY_BACKOFF_SECONDS)
