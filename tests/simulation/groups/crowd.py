"""A crowd of clients that join, sync, stall, crash and lie, and what must hold all the while."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.requests import JoinAnswer, JoinedMember, Leaving, SyncAnswer
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.groups.driver import SETTINGS, Driver, subscription

PARTITIONS = 12
INSTANCES = ("one", "two", "three")
PROTOCOLS = tuple((name, subscription("orders")) for name in ("range", "sticky", "cooperative"))
REFUSALS = (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.REQUEST_TIMED_OUT)


@dataclass
class Client:
    """What one process believes. An answer that it waits for is a list that is still empty."""

    instance_id: str | None
    asks_for_id: bool
    is_lively: bool
    member_id: str = ""
    generation: int = -1
    members: tuple[JoinedMember, ...] = ()  # if it leads
    joining: list[JoinAnswer] | None = None
    syncing: list[SyncAnswer] | None = None
    owned: tuple[int, ...] = ()
    protocols: tuple[tuple[str, bytes], ...] = PROTOCOLS

    @property
    def waits(self) -> bool:
        return self.joining == [] or self.syncing == []


@dataclass
class Crowd:
    seed: int
    random: Random = field(init=False)
    driver: Driver = field(init=False)
    clients: list[Client] = field(default_factory=list)
    asked: list[list[Any]] = field(default_factory=list)  # every request that may wait
    owners: dict[int, dict[int, str]] = field(default_factory=dict)  # by generation and partition
    transcript: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.driver = Driver(SETTINGS._replace(max_size=6))
        self.driver.commits_at_once = False

    def step(self) -> None:
        doing = self.random.choices(
            (self.arrive, self.act, self.misbehave, self.wait, self.settle, self.reload),
            (2, 10, 2, 6, 6, 0.2),
        )[0]
        self.transcript.append(f"{self.driver.now_ms} {doing.__name__} {self.group.state.value}")
        doing()
        self.hear()
        self.check()

    @property
    def group(self) -> Group:
        return self.driver.group

    def arrive(self) -> None:
        if len(self.clients) < 8:
            instance = self.random.choice((None, None, *INSTANCES))
            asks_for_id, is_lively = self.random.random() < 0.5, self.random.random() < 0.8
            client = Client(instance, asks_for_id=asks_for_id, is_lively=is_lively)
            self.clients.append(client)
            self.join(client)

    def act(self) -> None:
        if self.clients:
            client = self.random.choice(self.clients)
            if client.waits:
                return
            roll = self.random.random()
            if not client.member_id or client.generation < 0:
                self.join(client)
            elif roll < 0.5:
                self.heartbeat(client)
            elif roll < 0.6:
                self.commit(client)
            elif roll < 0.8:
                self.sync(client)
            elif roll < 0.9:
                self.change(client)
            else:
                self.depart(client)

    def change(self, client: Client) -> None:
        client.protocols = tuple(self.random.sample(PROTOCOLS, self.random.choice((2, 3, 3))))
        self.join(client)

    def misbehave(self) -> None:
        """Retries on a second connection, old generations, ids of others."""
        if not self.clients:
            return
        client, other = self.random.choice(self.clients), self.random.choice(self.clients)
        roll = self.random.random()
        if roll < 0.3:
            self.join(client)
        elif roll < 0.5:
            self.sync(client)
        elif roll < 0.7:
            generation = self.random.randrange(-1, self.group.generation + 2)
            self.driver.heartbeat(other.member_id, generation=generation)
            self.driver.commit(client.member_id, generation=generation)
        elif roll < 0.8:
            self.driver.leave(
                Leaving(other.member_id, client.instance_id), Leaving("", other.instance_id)
            )
        else:
            self.clients.remove(client)  # crashed: it never answers again

    def wait(self) -> None:
        for _ in range(self.random.choice((1, 1, 2, 4, 22))):
            self.driver.advance(self.random.choice((1, 500, 3_000)))
            self.hear()
            for client in [client for client in self.clients if client.is_lively]:
                if client in self.clients and not client.waits:
                    self.live(client)
            self.hear()

    def live(self, client: Client) -> None:
        """What a consumer does by itself all the time."""
        if client.member_id and client.generation >= 0:
            self.heartbeat(client)
        else:
            self.join(client)

    def settle(self) -> None:
        if self.random.random() < 0.2:
            self.driver.refuse(self.random.choice(REFUSALS))
        else:
            self.driver.store()

    def reload(self) -> None:
        """Of what was on its way, anything from the first may have reached the log."""
        if self.random.random() < 0.5:
            reached = self.random.randrange(len(self.driver.in_flight) + 1)
            self.driver.carry_out(self.group.unload(now_ms=self.driver.now_ms))
            del self.driver.in_flight[reached:]
            self.driver.store()
            self.driver.group = Group(
                "readers", self.driver.settings, self.driver.history, now_ms=0
            )
        self.driver.reload()

    def join(self, client: Client) -> None:
        client.joining = self.driver.ask_join(
            member_id=client.member_id,
            instance_id=client.instance_id,
            requires_known_member_id=client.asks_for_id and client.instance_id is None,
            supports_skipping_assignment=client.asks_for_id,
            protocols=client.protocols,
        )
        self.asked.append(client.joining)

    def sync(self, client: Client) -> None:
        shares: dict[str, list[int]] = {member.member_id: [] for member in client.members}
        for partition in range(PARTITIONS if shares else 0):
            shares[self.random.choice(list(shares))].append(partition)
        client.syncing = self.driver.ask_sync(
            client.member_id,
            {id: bytes(share) for id, share in shares.items()},
            instance_id=client.instance_id,
            generation=client.generation,
        )
        self.asked.append(client.syncing)

    def heartbeat(self, client: Client) -> None:
        error = self.driver.heartbeat(
            client.member_id, generation=client.generation, instance_id=client.instance_id
        )
        self.told(client, error)

    def commit(self, client: Client) -> None:
        error = self.driver.commit(
            client.member_id, generation=client.generation, instance_id=client.instance_id
        )
        self.told(client, error)

    def depart(self, client: Client) -> None:
        self.driver.leave(Leaving(client.member_id, client.instance_id))
        self.clients.remove(client)

    def told(self, client: Client, error: ErrorCode) -> None:
        """As consumers do: another id or another generation is needed, or it is fenced."""
        if error is ErrorCode.NONE:
            return
        client.generation, client.owned = -1, ()
        if error is ErrorCode.FENCED_INSTANCE_ID:
            self.clients.remove(client)
        elif error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_MAX_SIZE_REACHED):
            client.member_id = ""

    def hear(self) -> None:
        for client in list(self.clients):
            if client.joining:
                [joined] = client.joining
                client.joining = None
                self.hear_join(client, joined)
            if client.syncing:
                [synced] = client.syncing
                client.syncing = None
                self.hear_sync(client, synced)

    def hear_join(self, client: Client, answer: JoinAnswer) -> None:
        self.transcript.append(f"{answer.member_id} {answer.error.name} {answer.generation}")
        if answer.error is ErrorCode.MEMBER_ID_REQUIRED:
            client.member_id = answer.member_id
            self.join(client)
        elif answer.error is not ErrorCode.NONE:
            self.told(client, answer.error)
        else:
            client.member_id, client.generation = answer.member_id, answer.generation
            client.members = () if answer.skip_assignment else answer.members
            if self.random.random() < 0.9:
                self.sync(client)

    def hear_sync(self, client: Client, answer: SyncAnswer) -> None:
        self.transcript.append(f"{client.member_id} {answer.error.name} {answer.assignment!r}")
        if answer.error is not ErrorCode.NONE:
            self.told(client, answer.error)
            return
        client.owned = tuple(answer.assignment)
        owners = self.owners.setdefault(client.generation, {})
        identity = client.instance_id or client.member_id
        for partition in client.owned:
            owner = owners.setdefault(partition, identity)
            assert owner == identity, f"{partition} is {owner}'s and {identity}'s"

    def check(self) -> None:
        self.check_answers()
        self.check_timers()
        self.check_log()
        members = self.group.members
        if self.group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            assert members
            assert self.group.leader_id in members
        if self.group.state is GroupState.EMPTY:
            assert not members

    def check_answers(self) -> None:
        """Every request was answered once, or is waited for by exactly one member."""
        assert all(len(answers) <= 1 for answers in self.asked)
        self.asked = [answers for answers in self.asked if not answers]
        waiting = [
            id(getattr(to, "__self__", None))
            for member in self.group.members.values()
            for to in (member.awaiting_join, member.awaiting_sync)
            if to is not None
        ]
        assert sorted(waiting) == sorted(id(answers) for answers in self.asked)

    def check_timers(self) -> None:
        """Nobody can be forgotten: who does not wait for us has a session that ends."""
        timers = self.driver.timers
        for member in self.group.members.values():
            assert member.is_waiting or ("session", member.id) in timers, member
        for key in timers:
            if key[0] == "session":
                assert key[1] in self.group.members, key
            elif key[0] == "pending":
                assert key[1] in self.group.pending_members, key
        assert (("join",) in timers) is (self.group.state is GroupState.PREPARING_REBALANCE)

    def check_log(self) -> None:
        """What members are told is what another broker would find."""
        if self.group.state is GroupState.STABLE and not self.driver.in_flight:
            value = self.driver.log[-1]
            assert value.generation == self.group.generation
            assert value.leader == self.group.leader_id
            stored = {member.member_id: member.assignment for member in value.members}
            assert stored == {id: member.assignment for id, member in self.group.members.items()}

    def recover(self) -> None:
        """Everybody behaves and the log works: the group must become stable, and all be read."""
        self.driver.commits_at_once = True
        self.driver.store()
        for _ in range(200):
            self.hear()
            if self.is_well():
                break
            for client in [client for client in self.clients if not client.waits]:
                if client not in self.clients:
                    continue
                if client.generation >= 0 and not client.owned:
                    self.sync(client)
                else:
                    self.live(client)
                self.hear()
            self.driver.advance(2_000)
            self.check()
        assert self.is_well(), self.transcript[-40:]

    def is_well(self) -> bool:
        alive = {client.member_id for client in self.clients}
        is_stable = self.group.state in (GroupState.STABLE, GroupState.EMPTY)
        return is_stable and all(id in alive for id in self.group.members)
