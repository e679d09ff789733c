"""A small log in memory, written by an arbitrary history, and the plainest model of compaction."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType, build_end_transaction
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.storage.compaction import BatchFilter, MapBuilder
from ottla.storage.offset_map import OffsetMap
from ottla.storage.transaction_trail import ActiveProducer, TransactionTrail
from ottla.storage.transactions import AbortedTransaction

ROOMY = 1024 * 1024
TINY = 1  # one bucket: 27 keys
RETENTION_MS = 1_000


@dataclass
class WrittenLog:
    """Batches in order, and beside them what a model needs: every record with its transaction."""

    batches: list[bytes] = field(default_factory=list)
    end_offset: int = 0
    aborted: list[AbortedTransaction] = field(default_factory=list)
    data: list[tuple[Record, int | None]] = field(default_factory=list)  # and its transaction
    outcome: dict[int, ControlType] = field(default_factory=dict)  # by transaction
    _open: dict[int, tuple[int, int]] = field(default_factory=dict)  # producer: number, first
    _sequences: dict[int, int] = field(default_factory=dict)
    last_data_offset: dict[int, int | None] = field(default_factory=dict)

    def write(
        self,
        contents: list[tuple[bytes | None, bytes | None]],
        *,
        producer: int | None = None,
        transactional: bool = True,
        timestamps: list[int] | None = None,
        codec: Codec = Codec.NONE,
        log_append_time: int | None = None,
    ) -> None:
        stamps = timestamps or [1_000 + self.end_offset + i for i in range(len(contents))]
        records = [
            Record(self.end_offset + i, stamps[i], key, value)
            for i, (key, value) in enumerate(contents)
        ]
        transaction = None
        sequence = -1
        if producer is not None:
            sequence = self._sequences.get(producer, 0)
            self._sequences[producer] = sequence + len(records)
            self.last_data_offset[producer] = records[-1].offset
            if transactional:
                number = len(self.outcome) + len(self._open)
                transaction, _ = self._open.setdefault(producer, (number, self.end_offset))
        self.batches.append(
            build_batch(
                records,
                codec=codec,
                leader_epoch=3,
                log_append_time=log_append_time,
                producer_id=-1 if producer is None else producer,
                producer_epoch=-1 if producer is None else 0,
                base_sequence=sequence,
                is_transactional=transaction is not None,
            )
        )
        for record in records:
            if log_append_time is not None:
                record.timestamp = log_append_time
            self.data.append((record, transaction))
        self.end_offset += len(records)

    def end_transaction(self, producer: int, control_type: ControlType) -> None:
        self.last_data_offset.setdefault(producer, None)
        if producer in self._open:
            number, first_offset = self._open.pop(producer)
            self.outcome[number] = control_type
            if control_type is ControlType.ABORT:
                stable = min(
                    [first for _, first in self._open.values()], default=self.end_offset + 1
                )
                entry = AbortedTransaction(producer, first_offset, self.end_offset, stable)
                self.aborted.append(entry)
        self.batches.append(
            build_end_transaction(
                control_type,
                offset=self.end_offset,
                timestamp=1_000 + self.end_offset,
                producer_id=producer,
                producer_epoch=0,
                coordinator_epoch=1,
                leader_epoch=3,
            )
        )
        self.end_offset += 1

    def end_all(self) -> None:
        """Nothing beyond the last stable offset is ever compacted."""
        for producer in list(self._open):
            self.end_transaction(producer, ControlType.COMMIT)

    def survivors(self) -> list[Record]:
        """The model: of what was not aborted, the last record of each key."""
        last: dict[bytes, int] = {}
        committed = [
            record
            for record, transaction in self.data
            if transaction is None or self.outcome[transaction] is ControlType.COMMIT
        ]
        for record in committed:
            if record.key is not None:
                last[record.key] = record.offset
        return [r for r in committed if r.key is not None and last[r.key] == r.offset]

    def active_producers(self) -> list[ActiveProducer]:
        return [ActiveProducer(p, 0, last) for p, last in self.last_data_offset.items()]


def parse(batches: list[bytes]) -> list[Batch]:
    return list(read_batches(b"".join(batches)))


def compact(
    log: WrittenLog,
    batches: list[bytes] | None = None,
    *,
    first_dirty: int = 0,
    now_ms: int = 0,
    map_bytes: int = ROOMY,
    producers: list[ActiveProducer] | None = None,
) -> tuple[list[bytes], int]:
    """One pass over a log that is cleanable to its end: the new batches, and where it ended."""
    before = parse(log.batches if batches is None else batches)
    offset_map = OffsetMap(map_bytes)
    trail = TransactionTrail(log.aborted, start_offset=first_dirty)
    builder = MapBuilder(offset_map, trail, first_dirty_offset=first_dirty)
    if all(builder.add(batch) for batch in before if batch.last_offset >= first_dirty):
        builder.skip_to(log.end_offset)
    second_trail = TransactionTrail(log.aborted)
    batch_filter = BatchFilter(
        offset_map,
        second_trail,
        end_offset=builder.end_offset,
        active_producers=producers or [],
        now_ms=now_ms,
        delete_retention_ms=RETENTION_MS,
    )
    after = [batch_filter.filter(batch).data for batch in before]
    log.aborted = second_trail.take_indexed()
    return [bytes(data) for data in after if data is not None], builder.end_offset


def data_records(batches: list[bytes]) -> list[Record]:
    return [r for batch in parse(batches) if not batch.is_control for r in batch.records()]


_keys = st.one_of(st.none(), st.integers(0, 40).map(lambda n: b"key-%d" % n))
_values = st.one_of(st.none(), st.binary(max_size=4))
_contents = st.lists(st.tuples(_keys, _values), min_size=1, max_size=30)
_ends = st.sampled_from([ControlType.COMMIT, ControlType.ABORT])


@st.composite
def logs(draw: st.DrawFn) -> WrittenLog:
    log = WrittenLog()
    for _ in range(draw(st.integers(0, 15))):
        producer = draw(st.sampled_from([None, 7, 8, 9]))
        if producer is None or draw(st.booleans()):
            log.write(
                draw(_contents),
                producer=producer,
                transactional=producer != 9,
                codec=draw(st.sampled_from([Codec.NONE, Codec.NONE, Codec.LZ4, Codec.ZSTD])),
                log_append_time=draw(st.sampled_from([None, None, 5_000])),
            )
        elif producer != 9:
            log.end_transaction(producer, draw(_ends))
    log.end_all()
    return log
