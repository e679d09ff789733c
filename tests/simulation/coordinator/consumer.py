"""A consumer: joins, syncs, heartbeats, commits, loses its connection, stalls, and starts again.

It believes what it is told as the clients of others do; the model hears everything as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import Enum
from random import Random
from typing import TypeVar

from ottla.network.client import DEFAULT_MAX_RESPONSE_BYTES, BrokerClient, Disconnected
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.heartbeat import HeartbeatResponse
from ottla.protocol.apis.join_group import JoinGroupResponse
from ottla.protocol.apis.leave_group import LeaveGroupResponse
from ottla.protocol.apis.offset_commit import OffsetCommitResponse
from ottla.protocol.apis.offset_fetch import OffsetFetchResponse
from ottla.protocol.apis.sync_group import SyncGroupResponse
from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.schema import Message
from ottla.simulation.broker import PORT, SimulatedMachine
from tests.simulation.coordinator import assignors, dialect
from tests.simulation.coordinator.assignors import Claim
from tests.simulation.coordinator.dialect import TOPIC, Dialect, Identity
from tests.simulation.coordinator.model import Clock, GroupModel

PARTITIONS = 6
# Longer than anything may wait here: whoever is not answered by then never will be. A join waits
# for new members of which nobody has heard again, five minutes at most; a sync for the leader.
PATIENCE_MS = 30_000
SYNC_PATIENCE_MS = 40_000
JOIN_PATIENCE_MS = 400_000
LONGEST_DAWDLE_S = 120
_E = ErrorCode
Answer = TypeVar("Answer", bound=Message)


class Stage(Enum):
    JOIN = "join"
    SYNC = "sync"
    WORK = "work"


class Moved(ConnectionError):
    """The coordinator says that it is none, or not yet: it is looked for again."""


class Ended(Exception):
    """Another process has this instance id now, or the group is full: clients give up then."""


class Connection(BrokerClient):
    """Whoever is answered twice, or what it did not ask, has found a bug."""

    def _take_answer(self, frame: bytes) -> None:
        try:
            super()._take_answer(frame)
        except ProtocolError as error:
            raise AssertionError(f"not an answer to anything asked: {error}") from error


class Consumer:
    def __init__(
        self,
        machine: SimulatedMachine,
        model: GroupModel,
        clock: Clock,
        chance: Random,
        *,
        name: str,
        speaks: Dialect,
        instance_id: str | None,
        is_cooperative: bool,
    ) -> None:
        self.name = name
        self.instance_id = instance_id
        self.member_id = ""
        self.generation = -1
        self.stage = Stage.JOIN
        self.owned: tuple[int, ...] = ()
        self.is_calm = False  # neither stalls nor loses its connection
        self.wants_to_leave = False
        self.is_over = False
        self.task: asyncio.Task[None] | None = None
        self._machine = machine
        self._model = model
        self._clock = clock
        self._chance = chance
        self._speaks = speaks
        self._is_cooperative = is_cooperative
        self._session_timeout_ms = chance.choice((6_000, 10_000, 15_000))
        self._rebalance_timeout_ms = chance.choice((5_000, 10_000, 20_000))
        self._connection: Connection | None = None
        self._protocol = ""
        self._claims: dict[str, Claim] = {}  # if it leads
        self._tasks = asyncio.TaskGroup()

    @property
    def who(self) -> Identity:
        return Identity(self._model.id, self.member_id, self.instance_id, self.generation)

    async def run(self) -> None:
        try:
            async with self._tasks:
                while not self.is_over:
                    await self._try()
        except* Ended:
            pass
        finally:
            self.is_over = True

    async def _try(self) -> None:
        try:
            await self._connect()
            while not self.is_over:
                await self._step()
        except TimeoutError as error:
            raise AssertionError(f"{self.name} at {self.stage}: {error}") from error
        except OSError:
            self.cut()
            await asyncio.sleep(self._chance.uniform(0.02, 0.5))

    def cut(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def crash(self, *, closes: bool) -> None:
        """It never says another word; its connection may outlive it."""
        self.is_over = True
        if self.task is not None:
            self.task.cancel()
        if closes:
            self.cut()

    async def _connect(self) -> None:
        peer = self._machine.name
        connection = self._connection = Connection(
            peer,
            client_id=self.name,
            timeout_ms=PATIENCE_MS,
            max_response_bytes=DEFAULT_MAX_RESPONSE_BYTES,
        )
        self._machine.network.connect(connection, (peer, PORT))
        request = FindCoordinatorRequest(key=self._model.id)
        while True:
            answer = await self._ask(request, FindCoordinatorResponse, version=1)
            if answer.error_code == _E.NONE:
                return
            assert answer.error_code == _E.COORDINATOR_NOT_AVAILABLE, _E(answer.error_code)
            await asyncio.sleep(0.1)

    async def _ask(
        self,
        message: Message,
        expected: type[Answer],
        *,
        version: int,
        within_ms: int = PATIENCE_MS,
    ) -> Answer:
        connection = self._connection
        if connection is None:
            raise Disconnected(self.name)
        if self._happens(0.03):
            delay_s = self._chance.uniform(0, 0.08)
            asyncio.get_running_loop().call_later(delay_s, connection.close)
        answer = await connection.request(message, version=version, timeout_ms=within_ms)
        assert isinstance(answer, expected)
        return answer

    def _happens(self, likelihood: float) -> bool:
        return not self.is_calm and self._chance.random() < likelihood

    async def _step(self) -> None:
        if self.wants_to_leave and self.member_id:
            await self._leave()
        elif self.stage is not Stage.WORK and self.generation >= 0 and self._happens(0.04):
            await self._dawdle()
        elif self.stage is Stage.JOIN:
            await self._join()
        elif self.stage is Stage.SYNC:
            await self._sync()
        else:
            await self._work()

    async def _leave(self) -> None:
        self.is_over = True
        version = self._speaks.leave
        request = dialect.leave_request(self.who, version)
        answer = await self._ask(request, LeaveGroupResponse, version=version)
        errors = [each.error_code for each in answer.members] or [answer.error_code]
        allowed = (_E.NONE, _E.UNKNOWN_MEMBER_ID, _E.FENCED_INSTANCE_ID, _E.NOT_COORDINATOR,
                   _E.COORDINATOR_NOT_AVAILABLE, _E.COORDINATOR_LOAD_IN_PROGRESS)  # fmt: skip
        assert errors[0] in allowed, _E(errors[0])
        self.cut()

    async def _dawdle(self) -> None:
        """It is alive and says so, but everybody waits for it; or it commits what it may not."""
        if self.stage is Stage.SYNC and self._chance.random() < 0.5:
            await self._commit(self.who, range(PARTITIONS), is_premature=True)
            return
        stage = self.stage
        ends = self._clock.now() + self._chance.uniform(0, LONGEST_DAWDLE_S)
        while self.stage is stage and self._clock.now() < ends and not self.is_calm:
            await self._heartbeat()
            await asyncio.sleep(2)

    # Joining

    def _protocols(self) -> dict[str, bytes]:
        if self._is_cooperative:
            claim = Claim(self.generation, self.owned)
            return {assignors.COOPERATIVE: assignors.subscription(TOPIC, claim)}
        names = self._chance.sample(assignors.EAGER, len(assignors.EAGER))
        return {name: assignors.subscription(TOPIC, Claim(-1, ())) for name in names}

    async def _join(self) -> None:
        if not self._is_cooperative:
            self.owned = ()
        asked = self._clock.asked()
        request = dialect.join_request(
            self.who,
            self._protocols(),
            session_timeout_ms=self._session_timeout_ms,
            rebalance_timeout_ms=self._rebalance_timeout_ms,
        )
        answer = await self._ask(
            request,
            JoinGroupResponse,
            version=self._speaks.join,
            within_ms=JOIN_PATIENCE_MS,
        )
        if answer.error_code == _E.MEMBER_ID_REQUIRED:
            assert not self.member_id, f"{self.member_id} is known"
            self.member_id = answer.member_id
            if self._happens(0.05):
                raise Ended  # and its place is kept for it
        elif answer.error_code == _E.NONE:
            self._hear_join(answer)
            self._model.heard_join(
                asked,
                member_id=answer.member_id,
                leader=answer.leader,
                protocol=answer.protocol_name or "",
                generation=answer.generation_id,
                members=[each.member_id for each in answer.members],
            )
        else:
            self._hear(_E(answer.error_code))
            await asyncio.sleep(0.1)

    def _hear_join(self, answer: JoinGroupResponse) -> None:
        assert self.member_id in ("", answer.member_id), f"{self.member_id}: {answer.member_id}"
        self.member_id, self.generation = answer.member_id, answer.generation_id
        self._protocol = answer.protocol_name or ""
        self.stage = Stage.SYNC
        leads = answer.leader == self.member_id and not answer.skip_assignment
        assert bool(answer.members) == (answer.leader == self.member_id)
        self._claims = {
            each.member_id: assignors.read_claim(bytes(each.metadata))
            for each in (answer.members if leads else ())
        }

    async def _sync(self) -> None:
        asked, who = self._clock.asked(), self.who
        assignments: dict[str, bytes] = {}
        if self._claims:
            shares = assignors.assign(self._protocol, self._claims, PARTITIONS, self._chance)
            assignments = {id: assignors.assignment(TOPIC, own) for id, own in shares.items()}
            self._model.proposes(self.generation, assignments)
        request = dialect.sync_request(who, self._protocol, assignments)
        answer = await self._ask(
            request,
            SyncGroupResponse,
            version=self._speaks.sync,
            within_ms=SYNC_PATIENCE_MS,
        )
        if answer.error_code != _E.NONE:
            self._hear(_E(answer.error_code))
            return
        data = bytes(answer.assignment)
        self._model.heard_sync(asked, member_id=who.member_id, generation=who.generation, data=data)
        await self._own(assignors.read_assignment(data))

    async def _own(self, assigned: tuple[int, ...]) -> None:
        before, self.owned = self.owned, assigned
        self.stage = Stage.WORK
        if self._is_cooperative and any(index not in assigned for index in before):
            self.stage = Stage.JOIN  # what it gave up can be another's now
        elif assigned:
            await self._fetch(assigned)

    # At work

    async def _work(self) -> None:
        await asyncio.sleep(self._pause_s())
        if self.stage is not Stage.WORK:
            return  # the answer to a commit has told it otherwise
        roll = self._chance.random()
        if roll < 0.6 or not self.owned:
            await self._heartbeat()
        elif roll < 0.8:
            await self._commit(self.who, self._some())
        elif roll < 0.9:
            self._tasks.create_task(self._commit_unawaited(self.who, self._some()))
        elif roll < 0.93:
            await self._fetch(self._some())
        elif roll < 0.96:
            self._claims = {}
            await self._sync()  # once more: it hears the same
        else:
            await self._commit(self.who._replace(generation=self.generation - 1), self._some())

    def _pause_s(self) -> float:
        if self.is_calm:
            return 1.0
        if self._happens(0.02):
            return 1.5 * self._session_timeout_ms / 1000
        return self._chance.uniform(0.1, 2.5)

    def _some(self) -> list[int]:
        wanted = self._chance.randint(1, len(self.owned))
        return sorted(self._chance.sample(self.owned, wanted))

    async def _heartbeat(self) -> None:
        asked, who = self._clock.asked(), self.who
        request = dialect.heartbeat_request(who)
        answer = await self._ask(request, HeartbeatResponse, version=self._speaks.heartbeat)
        error = _E(answer.error_code)
        if error is _E.NONE:
            self._model.heard_heartbeat(asked, member_id=who.member_id, generation=who.generation)
        if error is _E.REBALANCE_IN_PROGRESS and self.owned and self._chance.random() < 0.5:
            # What is given up is committed first: the others wait for it.
            await self._commit(who, self._some())
        self._hear(error)

    async def _commit_unawaited(self, who: Identity, partitions: Sequence[int]) -> None:
        try:
            await self._commit(who, partitions)
        except TimeoutError as error:
            raise AssertionError(f"a commit of {self.name}: {error}") from error
        except OSError:
            self.cut()

    async def _commit(
        self, who: Identity, partitions: Sequence[int], *, is_premature: bool = False
    ) -> None:
        asked, model = self._clock.asked(), self._model
        commits = [model.commits(index, generation=who.generation) for index in partitions]
        request = dialect.commit_request(who, commits)
        try:
            answer = await self._ask(request, OffsetCommitResponse, version=self._speaks.commit)
        except (OSError, asyncio.CancelledError):
            for sent in commits:
                model.lost_commit(sent)
            raise
        [topic] = answer.topics
        errors = {each.partition_index: _E(each.error_code) for each in topic.partitions}
        for sent in commits:
            model.heard_commit(sent, asked, errors[sent.partition])
        if who == self.who and not is_premature:
            self._hear(errors[partitions[0]])

    async def _fetch(self, partitions: Sequence[int]) -> None:
        asked, version = self._clock.asked(), self._speaks.fetch
        request = dialect.fetch_request(self._model.id, partitions, version)
        answer = await self._ask(request, OffsetFetchResponse, version=version)
        error, found = dialect.fetched(answer, version)
        if error is not _E.NONE:
            self._hear(error)
            return
        assert [each.partition_index for each in found] == list(partitions)
        for each in found:
            if each.error_code == _E.UNSTABLE_OFFSET_COMMIT:
                continue
            self._model.heard_offset(
                asked,
                partition=each.partition_index,
                offset=each.committed_offset,
                metadata=each.metadata or "",
            )

    def _hear(self, error: ErrorCode) -> None:
        """What clients do by themselves: join again, under their id or another, or look again."""
        match error:
            case _E.NONE | _E.REQUEST_TIMED_OUT | _E.COORDINATOR_LOAD_IN_PROGRESS:
                pass
            case _E.REBALANCE_IN_PROGRESS:
                self.stage = Stage.JOIN
            case _E.ILLEGAL_GENERATION:
                self._forget()
            case _E.UNKNOWN_MEMBER_ID:
                self._forget()
                self.member_id = ""
            case _E.FENCED_INSTANCE_ID | _E.GROUP_MAX_SIZE_REACHED:
                raise Ended
            case _E.NOT_COORDINATOR | _E.COORDINATOR_NOT_AVAILABLE:
                raise Moved(self.name)
            case _:
                raise AssertionError(f"{self.name} in {self.stage} heard {error.name}")

    def _forget(self) -> None:
        self.generation, self.owned, self.stage = -1, (), Stage.JOIN


class Loner(Consumer):
    """Commits for a group that has no members, as consumers do that choose their partitions."""

    async def _step(self) -> None:
        self.owned = tuple(range(PARTITIONS))
        await asyncio.sleep(self._pause_s())
        if self._chance.random() < 0.3:
            await self._fetch(self._some())
        else:
            await self._commit(self.who, self._some())
        assert self.generation == -1, f"{self.name} is no member of anything"

    @property
    def who(self) -> Identity:
        return Identity(self._model.id, "", None, -1)
