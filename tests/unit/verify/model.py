"""A cluster that does everything right, driven at random: what its clients do is a good history."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random

from ottla.verify.history import (
    Assigned,
    Began,
    Ended,
    Fenced,
    FinalRead,
    History,
    Initialized,
    Isolation,
    OffsetsCommitted,
    OffsetsFetched,
    OffsetsSent,
    Outcome,
    Read,
    Recorder,
    Seeked,
    Sent,
    Source,
    TopicPartition,
)

INPUTS = [TopicPartition("input", 0), TopicPartition("input", 1)]
OUTPUTS = [TopicPartition("output", 0), TopicPartition("output", 1)]
GROUP = "loop"


class State(Enum):
    OPEN = auto()
    COMMITTED = auto()
    ABORTED = auto()


@dataclass
class Open:
    """A transaction as the cluster has it."""

    name: str
    partitions: dict[TopicPartition, None] = field(default_factory=dict)
    offsets: dict[TopicPartition, int] = field(default_factory=dict)
    state: State = State.OPEN


class Cluster:
    """Logs of values; None is a marker. `owner` has each value's transaction."""

    def __init__(self) -> None:
        self.logs: dict[TopicPartition, list[str | None]] = {p: [] for p in INPUTS + OUTPUTS}
        self.owner: dict[str, Open | None] = {}
        self.committed: dict[TopicPartition, int] = {}
        self.current: dict[str, str] = {}  # by transactional id, the client that has it

    def append(self, partition: TopicPartition, value: str, within: Open | None) -> int:
        self.owner[value] = within
        if within is not None:
            within.partitions[partition] = None
        self.logs[partition].append(value)
        return len(self.logs[partition]) - 1

    def end(self, transaction: Open, *, is_commit: bool) -> None:
        if transaction.state is not State.OPEN:
            return
        transaction.state = State.COMMITTED if is_commit else State.ABORTED
        for partition in transaction.partitions:
            self.logs[partition].append(None)
        if is_commit:
            self.committed |= transaction.offsets

    def content(self, partition: TopicPartition, isolation: Isolation) -> list[tuple[int, str]]:
        """What may be read now."""
        found = []
        for offset, value in enumerate(self.logs[partition]):
            if value is None:
                continue
            within = self.owner[value]
            if isolation is Isolation.READ_COMMITTED and within is not None:
                if within.state is State.OPEN:
                    break
                if within.state is State.ABORTED:
                    continue
            found.append((offset, value))
        return found


class Producer:
    """One that owns a transactional id until the next of the same id comes."""

    def __init__(self, world: World, transactional_id: str) -> None:
        self.world = world
        self.id = transactional_id
        self.client = f"{transactional_id}.{world.next_number()}"
        self.open: Open | None = None
        asked = world.recorder.now()
        before = world.producers.get(transactional_id)
        if before is not None and before.open is not None:
            world.cluster.end(before.open, is_commit=False)
        world.producers[transactional_id] = self
        answered = world.recorder.now()
        world.recorder.add(Initialized(self.client, self.id, asked, answered))

    @property
    def is_fenced(self) -> bool:
        return self.world.producers[self.id] is not self

    def begin(self) -> Open:
        self.open = Open(f"{self.client}/{self.world.next_number()}")
        recorder = self.world.recorder
        recorder.add(Began(self.client, self.id, self.open.name, recorder.now()))
        return self.open

    def send(self, partition: TopicPartition, source: Source | None = None) -> None:
        world, within = self.world, self.open
        assert within is not None
        value = f"{within.name}/{world.next_number()}"
        sent = Sent(self.client, partition, value, world.recorder.now(), 0, within.name)
        outcome, offset = Outcome.UNKNOWN, None
        if not self.is_fenced:
            written = world.cluster.append(partition, value, within)
            if source is not None or world.random.random() < 0.9:
                outcome, offset = Outcome.OK, written
        answered = world.recorder.now()
        told = sent._replace(answered=answered, outcome=outcome, offset=offset, source=source)
        world.recorder.add(told)

    def send_offsets(self, offsets: dict[TopicPartition, int]) -> None:
        assert self.open is not None
        recorder = self.world.recorder
        asked = recorder.now()
        self.open.offsets |= offsets
        told = tuple(offsets.items())
        recorder.add(OffsetsSent(self.client, self.open.name, GROUP, told, asked, recorder.now()))

    def end(self, *, is_commit: bool, answer: Outcome = Outcome.OK, happens: bool = True) -> None:
        """`happens` only if the answer leaves it open; a fenced one is refused."""
        assert self.open is not None
        recorder = self.world.recorder
        asked = recorder.now()
        if self.is_fenced:
            answer = Outcome.UNKNOWN
            recorder.add(Fenced(self.client, self.id, recorder.now()))
        elif happens:
            self.world.cluster.end(self.open, is_commit=is_commit)
        ended = Ended(self.client, self.open.name, is_commit, asked, recorder.now(), answer)
        recorder.add(ended)


class Consumer:
    def __init__(
        self, world: World, partitions: list[TopicPartition], isolation: Isolation
    ) -> None:
        self.client = f"consumer.{world.next_number()}"
        self.world = world
        self.isolation = isolation
        self.positions = dict.fromkeys(partitions, 0)
        where = tuple(self.positions.items())
        world.recorder.add(Assigned(self.client, where, world.recorder.now()))

    def poll(self, most: int) -> list[Read]:
        """Up to so many of each partition."""
        found = []
        for partition, position in self.positions.items():
            content = self.world.cluster.content(partition, self.isolation)
            ahead = [(offset, value) for offset, value in content if offset >= position]
            for offset, value in ahead[:most]:
                at = self.world.recorder.now()
                found.append(Read(self.client, partition, offset, value, at, self.isolation))
        for read in found:
            self.world.recorder.add(read)
            self.positions[read.partition] = read.offset + 1
        return found

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.positions[partition] = offset
        recorder = self.world.recorder
        recorder.add(Seeked(self.client, partition, offset, recorder.now()))


class World:
    """Runs `steps` random steps of everybody, then lets all end and reads what is left."""

    def __init__(self, seed: int, *, steps: int = 60) -> None:
        self.random = Random(seed)
        self.recorder = Recorder()
        self.cluster = Cluster()
        self.producers: dict[str, Producer] = {}
        self._number = 0
        self._zombies: list[Producer] = []
        for name in ("a", "b", "loop"):
            Producer(self, name)
        committed, dirty = Isolation.READ_COMMITTED, Isolation.READ_UNCOMMITTED
        self._readers = [Consumer(self, INPUTS + OUTPUTS, each) for each in (committed, dirty)]
        self._loop = Consumer(self, INPUTS, committed)
        self._fetch()
        for _ in range(steps):
            self._step()
        self._finish()

    def history(self) -> History:
        return self.recorder.history()

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def _step(self) -> None:
        actions = [self._write, self._write, self._write, self._read, self._transform]
        actions += [self._plain, self._haunt, self._commit_plainly]
        self.random.choice(actions)()

    def _write(self) -> None:
        """One step of one transaction: so the steps of several are mixed."""
        producer = self.producers[self.random.choice("ab")]
        if producer.open is None or producer.open.state is not State.OPEN:
            producer.begin()
        elif self.random.random() < 0.6:
            producer.send(self.random.choice(INPUTS))
        else:
            self._end(producer)

    def _end(self, producer: Producer) -> None:
        way = self.random.random()
        if way < 0.5:
            producer.end(is_commit=True)
        elif way < 0.7:
            producer.end(is_commit=False)
        elif way < 0.85:
            happens = self.random.random() < 0.5
            producer.end(is_commit=True, answer=Outcome.UNKNOWN, happens=happens)
            Producer(self, producer.id)
        else:
            self._zombies.append(producer)
            Producer(self, producer.id)

    def _haunt(self) -> None:
        if self._zombies:
            zombie = self._zombies.pop()
            zombie.send(self.random.choice(INPUTS))
            zombie.end(is_commit=True)

    def _plain(self) -> None:
        """A record outside of transactions."""
        value = f"plain/{self.next_number()}"
        partition = self.random.choice(INPUTS)
        asked = self.recorder.now()
        offset = self.cluster.append(partition, value, None)
        answered = self.recorder.now()
        self.recorder.add(Sent("plain", partition, value, asked, answered, offset=offset))

    def _read(self) -> None:
        self.random.choice(self._readers).poll(self.random.randint(1, 4))

    def _commit_plainly(self) -> None:
        """Another group, outside of transactions."""
        offsets = tuple(self._readers[0].positions.items())
        asked = self.recorder.now()
        commit = OffsetsCommitted("c", "plain", offsets, asked, self.recorder.now())
        self.recorder.add(commit)
        asked = self.recorder.now()
        fetch = OffsetsFetched("c", "plain", offsets, asked, self.recorder.now())
        self.recorder.add(fetch)

    def _transform(self) -> None:
        before = dict(self._loop.positions)
        reads = self._loop.poll(3)
        if not reads:
            return
        producer = self.producers["loop"]
        producer.begin()
        for read in reads:
            source = Source(GROUP, read.partition, read.offset)
            producer.send(self.random.choice(OUTPUTS), source)
        producer.send_offsets({each.partition: each.offset + 1 for each in reads})
        self._end(producer)
        assert producer.open is not None
        if producer.open.state is not State.COMMITTED:
            for partition, offset in before.items():
                self._loop.seek(partition, offset)

    def _fetch(self) -> None:
        asked = self.recorder.now()
        told = tuple((each, self.cluster.committed.get(each, -1)) for each in INPUTS)
        self.recorder.add(OffsetsFetched("x", GROUP, told, asked, self.recorder.now()))

    def _finish(self) -> None:
        for producer in list(self.producers.values()):
            Producer(self, producer.id)
        for isolation in Isolation:
            for partition in self.cluster.logs:
                content = tuple(self.cluster.content(partition, isolation))
                self.recorder.add(FinalRead(partition, isolation, content))
        self._fetch()
