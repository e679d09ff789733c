"""A producer and a consumer that write down all they do and hear."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ottla.verify.clients import Clients, Consumer, Place
from ottla.verify.history import (
    Assigned,
    Began,
    Ended,
    Fenced,
    Initialized,
    Isolation,
    Offsets,
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


class RecordedProducer:
    """One life of a transactional id, called `client`. What it gives back is whether it went well;
    `trouble` says why it did not."""

    def __init__(
        self, clients: Clients, recorder: Recorder, *, transactional_id: str, client: str
    ) -> None:
        self.transactional_id = transactional_id
        self.client = client
        self.transaction = ""
        self.trouble = ""
        self._count = 0
        self._asked = 0  # when it was first asked to be initialized
        self._recorder = recorder
        self._producer = clients.producer(transactional_id)
        self._on_the_way: dict[str, Sent] = {}

    def initialize(self) -> bool | None:
        """None: not yet."""
        self._asked = self._asked or self._recorder.now()
        answer = self._producer.initialize()
        if answer is None:
            return None
        outcome = self._outcome(answer.is_ok, answer.words)
        times = (self._asked, self._recorder.now())
        self._recorder.add(Initialized(self.client, self.transactional_id, *times, outcome))
        return answer.is_ok

    def begin(self) -> bool:
        self._count += 1
        self.transaction = f"{self.client}/{self._count}"
        now = self._recorder.now()
        self._recorder.add(Began(self.client, self.transactional_id, self.transaction, now))
        answer = self._producer.begin()
        self._outcome(answer.is_ok, answer.words)
        return answer.is_ok

    def send(self, partition: TopicPartition, source: Source | None = None) -> None:
        self._count += 1
        value = f"{self.transaction}/{self._count}"
        asked = self._recorder.now()
        sent = Sent(self.client, partition, value, asked, asked, self.transaction, source=source)
        self._on_the_way[value] = sent
        self._producer.send(partition, value, partial(self._delivered, value))

    def send_offsets(self, group: str, offsets: Offsets, membership: object) -> bool:
        asked = self._recorder.now()
        answer = self._producer.send_offsets(offsets, membership)
        self._hear_fence(answer.is_fenced)
        outcome = self._outcome(answer.is_ok, answer.words)
        times = (asked, self._recorder.now())
        self._recorder.add(
            OffsetsSent(self.client, self.transaction, group, offsets, *times, outcome)
        )
        return answer.is_ok

    def end(self, *, is_commit: bool) -> bool:
        asked = self._recorder.now()
        answer = self._producer.end(is_commit=is_commit)
        self._hear_fence(answer.is_fenced)
        outcome = self._outcome(answer.is_ok, answer.words)
        times = (asked, self._recorder.now())
        self._recorder.add(Ended(self.client, self.transaction, is_commit, *times, outcome))
        return answer.is_ok

    def abandon(self) -> None:
        """What is on its way now, nobody will hear of."""
        self._producer.abandon()
        for value in list(self._on_the_way):
            self._delivered(value, None)

    def _delivered(self, value: str, offset: int | None) -> None:
        sent = self._on_the_way.pop(value, None)
        if sent is None:
            return
        outcome = Outcome.UNKNOWN if offset is None else Outcome.OK
        now = self._recorder.now()
        self._recorder.add(sent._replace(answered=now, outcome=outcome, offset=offset))

    def _hear_fence(self, is_fenced: bool) -> None:
        if is_fenced:
            now = self._recorder.now()
            self._recorder.add(Fenced(self.client, self.transactional_id, now))

    def _outcome(self, is_ok: bool, words: str) -> Outcome:
        self.trouble = words
        return Outcome.OK if is_ok else Outcome.UNKNOWN


class RecordedConsumer:
    """Reads from where it is told, or as a member of a group from where the group is."""

    def __init__(
        self, consumer: Consumer, recorder: Recorder, *, client: str, isolation: Isolation
    ) -> None:
        self.client = client
        self.positions: dict[TopicPartition, int] = {}
        self.committed: dict[TopicPartition, int] = {}  # as the group told it
        self.membership = consumer.membership
        self.close = consumer.close
        self._group: str | None = None
        self._consumer = consumer
        self._recorder = recorder
        self._isolation = isolation

    def assign(self, positions: dict[TopicPartition, int]) -> None:
        self._consumer.assign(tuple(positions.items()))
        self._assigned(positions)

    def join(self, group: str, topic: str) -> None:
        self._group = group
        self._consumer.subscribe(
            topic, on_assigned=self._on_assigned, on_revoked=lambda _: self._assigned({})
        )

    def poll(self, timeout_s: float) -> list[Read]:
        reads = []
        for place, offset, value in self._consumer.poll(timeout_s):
            partition = TopicPartition(*place)
            if partition not in self.positions:
                continue  # taken away while this was on its way: whoever has it now reads it
            now = self._recorder.now()
            reads.append(Read(self.client, partition, offset, value, now, self._isolation))
            self._recorder.add(reads[-1])
            self.positions[partition] = offset + 1
        return reads

    def seek(self, positions: dict[TopicPartition, int]) -> bool:
        if not self._consumer.seek(tuple(positions.items())):
            return False
        for partition, offset in positions.items():
            self._recorder.add(Seeked(self.client, partition, offset, self._recorder.now()))
        self.positions |= positions
        return True

    def fetch_offsets(self, group: str, partitions: Sequence[TopicPartition]) -> bool:
        asked = self._recorder.now()
        told = self._consumer.committed(partitions)
        if told is None:
            return False
        offsets = tuple((TopicPartition(*place), offset) for place, offset in told)
        times = (asked, self._recorder.now())
        self._recorder.add(OffsetsFetched(self.client, group, offsets, *times))
        self.committed |= offsets
        return True

    def _on_assigned(self, places: Sequence[Place]) -> None:
        partitions = [TopicPartition(*each) for each in places]
        assert self._group is not None
        if self.fetch_offsets(self._group, partitions):
            self.assign({each: max(0, self.committed[each]) for each in partitions})
        else:
            # The library goes on where the group is, and nobody here knows where that was.
            self._assigned(dict.fromkeys(partitions, -1))

    def _assigned(self, positions: dict[TopicPartition, int]) -> None:
        self.positions = dict(positions)
        now = self._recorder.now()
        self._recorder.add(Assigned(self.client, tuple(positions.items()), now, self._group))
