"""Who takes part in a workload. An actor is a generator: between two of its steps others act."""

from __future__ import annotations

from collections.abc import Generator

from ottla.verify.history import Isolation, Offsets, Read, Source, TopicPartition
from ottla.verify.recorded import RecordedConsumer, RecordedProducer
from ottla.verify.stage import Stage, Way

Actor = Generator[None, None, None]
_AGAIN_SHARE = 0.02  # of a reader's steps: it goes back to where it chooses


class Writer:
    """Sends inputs in transactions that end in every way."""

    def __init__(self, stage: Stage, transactional_id: str) -> None:
        self._stage = stage
        self._id = transactional_id

    def acts(self, transactions: int) -> Actor:
        stage = self._stage
        producer = yield from stage.take(self._id)
        try:
            for _ in range(transactions):
                producer = yield from self._transaction(producer)
                stage.ended += 1
        finally:
            producer.abandon()

    def _transaction(self, producer: RecordedProducer) -> Generator[None, None, RecordedProducer]:
        stage = self._stage
        producer = yield from begun(stage, self._id, producer)
        yield
        for _ in range(stage.random.randint(1, stage.plan.records)):
            producer.send(stage.random.choice(stage.plan.inputs))
            yield
        _, producer = yield from ended(stage, self._id, producer, stage.draw())
        return producer


class Member:
    """One of a group that reads inputs and writes an output for each, in one transaction with the
    offsets of what it read: the loop that is to be exactly once."""

    def __init__(self, stage: Stage, transactional_id: str) -> None:
        self._stage = stage
        self._id = transactional_id

    def acts(self) -> Actor:
        producer = yield from self._stage.take(self._id)
        consumer = self._join()
        try:
            while True:
                if not (reads := consumer.poll(self._stage.wait_s)):
                    self._stage.moved(consumer.committed)
                    yield
                    continue
                producer = yield from begun(self._stage, self._id, producer)
                way = yield from self._send(producer, consumer, reads)
                is_done, producer = yield from ended(self._stage, self._id, producer, way)
                if is_done:
                    self._stage.moved({each.partition: each.offset + 1 for each in reads})
                elif way is not Way.ABORT or not self._rewind(consumer, reads):
                    # Nobody knows how it ended, so the group must say where it is.
                    consumer.close()
                    consumer = self._join()
                yield
        finally:
            producer.abandon()
            consumer.close()

    def _send(
        self, producer: RecordedProducer, consumer: RecordedConsumer, reads: list[Read]
    ) -> Generator[None, None, Way]:
        """How it must end, or may."""
        stage = self._stage
        for read in reads:
            source = Source(stage.plan.group, read.partition, read.offset)
            producer.send(stage.random.choice(stage.plan.outputs), source)
            yield
        ends = {each.partition: each.offset + 1 for each in reads}
        offsets: Offsets = tuple(ends.items())
        is_sent = producer.send_offsets(stage.plan.group, offsets, consumer.membership())
        yield
        return stage.draw() if is_sent else Way.ABORT

    def _rewind(self, consumer: RecordedConsumer, reads: list[Read]) -> bool:
        first: dict[TopicPartition, int] = {}
        for each in reads:
            first.setdefault(each.partition, each.offset)
        return consumer.seek(first)

    def _join(self) -> RecordedConsumer:
        consumer = self._stage.member()
        consumer.join(self._stage.plan.group, self._stage.plan.input_topic)
        return consumer


def read(stage: Stage, isolation: Isolation) -> Actor:
    """Reads everything as it comes, and sometimes again."""
    reader = stage.reader(isolation)
    reader.assign(dict.fromkeys(stage.plan.inputs + stage.plan.outputs, 0))
    try:
        while True:
            yield
            reader.poll(0)
            if stage.random.random() < _AGAIN_SHARE:
                positions = reader.positions.items()
                reader.assign({each: stage.random.randint(0, at) for each, at in positions})
    finally:
        reader.close()


def begun(
    stage: Stage, transactional_id: str, producer: RecordedProducer
) -> Generator[None, None, RecordedProducer]:
    """A producer with a transaction; another one, if this one can no more."""
    if not producer.begin():
        producer.abandon()
        producer = yield from stage.take(transactional_id)
        producer.begin()
    return producer


def ended(
    stage: Stage, transactional_id: str, producer: RecordedProducer, way: Way
) -> Generator[None, None, tuple[bool, RecordedProducer]]:
    """Whether it is surely committed, and who has the id then."""
    match way:
        case Way.COMMIT | Way.ABORT:
            is_commit = way is Way.COMMIT
            if producer.end(is_commit=is_commit):
                return is_commit, producer
            if is_commit and producer.end(is_commit=False):
                return False, producer
            producer.abandon()
        case Way.KILL:
            producer.abandon()
            yield from stage.linger()
        case Way.ZOMBIE:
            successor = yield from stage.take(transactional_id)
            yield from stage.linger()
            producer.send(stage.random.choice(stage.plan.inputs))
            producer.end(is_commit=True)
            producer.abandon()
            return False, successor
    return False, (yield from stage.take(transactional_id))
