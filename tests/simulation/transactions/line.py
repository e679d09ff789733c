"""A client's line to the broker: it is cut, found again, and what is asked may be asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import TypeVar

from ottla.network.client import DEFAULT_MAX_RESPONSE_BYTES
from ottla.protocol.apis.add_partitions_to_txn import AddPartitionsToTxnRequest
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest
from ottla.protocol.apis.produce import ProduceRequest
from ottla.protocol.errors import ErrorCode
from ottla.protocol.schema import Message
from ottla.simulation.broker import PORT, SimulatedMachine
from tests.simulation.coordinator.consumer import Connection

# Longer than anything waits here: who is not answered by then never will be.
PATIENCE_MS = 60_000
# Until then everything that was sent on the line before has arrived: a request that came after the
# answer to its own repetition could end the next transaction. Kafka itself does not guard against
# that before its second version of transactions.
CLEARED_S = 0.1
LONGEST_TRIAL_S = 25.0
LATEST_S = 5.0
# To end a transaction, or to send offsets in one, says nothing of which of a producer's it is: for
# the same reason these never come late.
MAY_COME_LATE = (InitProducerIdRequest, AddPartitionsToTxnRequest, ProduceRequest)

_E = ErrorCode
Answer = TypeVar("Answer", bound=Message)

AGAIN = (
    _E.COORDINATOR_LOAD_IN_PROGRESS,
    _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_COORDINATOR,
    _E.CONCURRENT_TRANSACTIONS,
    _E.REQUEST_TIMED_OUT,
    _E.NOT_LEADER_OR_FOLLOWER,
    _E.NOT_ENOUGH_REPLICAS,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    _E.KAFKA_STORAGE_ERROR,
    _E.UNKNOWN_TOPIC_OR_PARTITION,
    _E.UNSTABLE_OFFSET_COMMIT,
)


class GaveUp(Exception):
    """It was tried for long, and nobody knows what became of it."""


class Line:
    """`tasks` for what comes late."""

    def __init__(
        self, machine: SimulatedMachine, chance: Random, name: str, tasks: asyncio.TaskGroup
    ) -> None:
        self.is_calm = False  # is not cut, and asks everything once
        self._machine = machine
        self._chance = chance
        self._name = name
        self._tasks = tasks
        self._connection: Connection | None = None

    def cut(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def ask(self, message: Message, expected: type[Answer], version: int) -> Answer:
        """OSError: it was cut, and nobody knows whether the request was served."""
        connection = self._connection = self._connection or self._connect()
        loop = asyncio.get_running_loop()
        if self._happens(0.03):
            loop.call_later(self._chance.uniform(0, 0.08), connection.close)
        if isinstance(message, MAY_COME_LATE) and self._happens(0.04):
            self.post(message, version)
        asked = [connection.request(message, version=version)]
        if self._happens(0.05):
            asked.append(connection.request(message, version=version))
        try:
            answers = await asyncio.gather(*asked)
        except TimeoutError as error:
            raise AssertionError(f"{self._name}: no answer to {message}: {error}") from error
        except OSError:
            self.cut()
            raise
        answer = self._chance.choice(answers)
        assert isinstance(answer, expected)
        return answer

    async def insist(
        self,
        message: Message,
        expected: type[Answer],
        version: int,
        error_of: Callable[[Answer], int],
    ) -> tuple[ErrorCode, Answer]:
        """Until it hears something that is worth hearing."""
        ends = asyncio.get_running_loop().time() + LONGEST_TRIAL_S
        while True:
            try:
                answer = await self.ask(message, expected, version)
                error = _E(error_of(answer))
                if error not in AGAIN:
                    return error, answer
            except OSError:
                await asyncio.sleep(CLEARED_S)
            if asyncio.get_running_loop().time() > ends:
                raise GaveUp(self._name)
            await asyncio.sleep(self._chance.uniform(0.02, 0.3))

    def post(self, message: Message, version: int) -> None:
        """It comes some time, and nobody waits for the answer."""
        self._tasks.create_task(self._ask_late(message, version))

    async def _ask_late(self, message: Message, version: int) -> None:
        """On another line, whatever has become of the first by then."""
        await asyncio.sleep(self._chance.uniform(0, LATEST_S))
        with suppress(OSError):
            connection = self._connect()
            await connection.request(message, version=version)
            connection.close()

    def _connect(self) -> Connection:
        peer = self._machine.name
        connection = Connection(
            peer,
            client_id=self._name,
            timeout_ms=PATIENCE_MS,
            max_response_bytes=DEFAULT_MAX_RESPONSE_BYTES,
        )
        self._machine.network.connect(connection, (peer, PORT))
        return connection

    def _happens(self, likelihood: float) -> bool:
        return not self.is_calm and self._chance.random() < likelihood
