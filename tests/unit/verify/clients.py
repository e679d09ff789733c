"""Clients of the model's cluster, as a workload wants them, and a cluster that forgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ottla.verify.clients import Incoming, Place, Position
from ottla.verify.history import Isolation, TopicPartition
from tests.unit.verify.model import Cluster, Open, State

_AT_ONCE = 5
_LOOKS = 3  # until an id is taken


class Told(NamedTuple):
    is_ok: bool
    is_fenced: bool = False
    words: str = ""


class ModelProducer:
    def __init__(self, clients: ModelClients, transactional_id: str) -> None:
        self._clients = clients
        self._id = transactional_id
        self._looks = 0
        self._open: Open | None = None

    def initialize(self) -> Told | None:
        self._looks += 1
        if self._looks < _LOOKS:
            return None
        before = self._clients.owners.get(self._id)
        if before is not None and before._open is not None:
            self._clients.cluster.end(before._open, is_commit=False)
        self._clients.owners[self._id] = self
        return Told(True)

    def begin(self) -> Told:
        self._open = Open("")
        return self._unless_fenced()

    def send(self, partition: Place, value: str, on_delivery: Callable[[int | None], None]) -> None:
        if not self._unless_fenced().is_ok:
            on_delivery(None)
            return
        place = TopicPartition(*partition)
        on_delivery(self._clients.cluster.append(place, value, self._open))

    def send_offsets(self, offsets: Sequence[Position], membership: object) -> Told:
        assert self._open is not None
        self._open.offsets |= {TopicPartition(*place): offset for place, offset in offsets}
        is_member = membership == self._clients.generation and not self._clients.expels
        return self._unless_fenced() if is_member else Told(False, words="ILLEGAL_GENERATION")

    def end(self, *, is_commit: bool) -> Told:
        answer = self._unless_fenced()
        if answer.is_ok and self._open is not None:
            takes_place = is_commit and not self._clients.forgets
            self._clients.cluster.end(self._open, is_commit=takes_place)
        return answer

    def abandon(self) -> None: ...

    def _unless_fenced(self) -> Told:
        is_owner = self._clients.owners[self._id] is self
        return Told(is_owner, not is_owner, "" if is_owner else "fenced")


class ModelConsumer:
    """A member rejoins when it polls; when all have, each hears what it got when it polls next."""

    def __init__(self, clients: ModelClients, isolation: Isolation) -> None:
        self._clients = clients
        self._isolation = isolation
        self._positions: dict[TopicPartition, int] = {}
        self.joined = self._assigned = -1  # the generation
        self._is_member = False

    def assign(self, positions: Sequence[Position]) -> None:
        self._positions = {TopicPartition(*place): offset for place, offset in positions}

    def subscribe(
        self,
        topic: str,
        *,
        on_assigned: Callable[[Sequence[Place]], None],
        on_revoked: Callable[[Sequence[Place]], None],
    ) -> None:
        self._topic, self._on_assigned, self._on_revoked = topic, on_assigned, on_revoked
        self._is_member = True
        self._clients.members.append(self)
        self._clients.joining += 1

    def poll(self, timeout_s: float) -> list[Incoming]:
        if self._is_member:
            self._rebalance()
        found: list[Incoming] = []
        for partition, position in self._positions.items():
            content = self._clients.cluster.content(partition, self._isolation)
            ahead = [(partition, *each) for each in content if each[0] >= position][:_AT_ONCE]
            found += ahead
            if ahead:
                self._positions[partition] = ahead[-1][1] + 1
        return found

    def seek(self, positions: Sequence[Position]) -> bool:
        self._positions |= {TopicPartition(*place): offset for place, offset in positions}
        return True

    def committed(self, partitions: Sequence[Place]) -> list[Position]:
        committed = self._clients.cluster.committed
        return [(each, committed.get(TopicPartition(*each), -1)) for each in partitions]

    def membership(self) -> object:
        return self._assigned

    def close(self) -> None:
        if self._is_member:
            self._clients.members.remove(self)
            self._clients.joining += 1

    def _rebalance(self) -> None:
        clients = self._clients
        if self.joined != clients.joining:
            self.joined = clients.joining
            self._positions = {}
            self._on_revoked([])
            if all(each.joined == clients.joining for each in clients.members):
                clients.generation = clients.joining
        if self.joined == clients.generation != self._assigned:
            self._assigned = clients.generation
            members = clients.members
            partitions = [each for each in clients.cluster.logs if each.topic == self._topic]
            self._on_assigned(partitions[members.index(self) :: len(members)])


class ModelClients:
    """`forgets`: commits are answered and do not take place. `hangs` is what settling says.
    `expels`: no member is ever taken for one."""

    def __init__(self, *, forgets: bool = False, hangs: str = "", expels: bool = False) -> None:
        self.cluster = Cluster()
        self.owners: dict[str, ModelProducer] = {}
        self.members: list[ModelConsumer] = []
        self.generation = self.joining = 0
        self.expels = expels
        self.forgets = forgets
        self._hangs = hangs

    def producer(self, transactional_id: str) -> ModelProducer:
        return ModelProducer(self, transactional_id)

    def reader(self, *, read_committed: bool) -> ModelConsumer:
        isolations = (Isolation.READ_UNCOMMITTED, Isolation.READ_COMMITTED)
        return ModelConsumer(self, isolations[read_committed])

    def member(self, group: str) -> ModelConsumer:
        return ModelConsumer(self, Isolation.READ_COMMITTED)

    def everything(
        self, partitions: Sequence[Place], *, read_committed: bool
    ) -> Iterator[Incoming]:
        isolation = (Isolation.READ_UNCOMMITTED, Isolation.READ_COMMITTED)[read_committed]
        for place in partitions:
            for offset, value in self.cluster.content(TopicPartition(*place), isolation):
                yield place, offset, value

    def settle(self, partitions: Sequence[Place]) -> str:
        opened = [each for each in self.cluster.owner.values() if each is not None]
        is_hanging = any(
            each.state is State.OPEN and TopicPartition(*place) in each.partitions
            for each in opened
            for place in partitions
        )
        return self._hangs or ("a transaction hangs" if is_hanging else "")
