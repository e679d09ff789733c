"""A log on a simulated disk and its history, led through random days from one seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import pytest

from ottla.protocol.errors import KafkaError
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType, build_end_transaction
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.disk_faults import Crashed
from ottla.storage.checkpoints import TopicPartition
from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig
from ottla.storage.cutting import advance_start, drop_oldest, note_dropped, restart, truncate
from ottla.storage.dropped import Dropped
from ottla.storage.flushing import Flush, begin_flush, close, end_flush
from ottla.storage.following import append_as_follower
from ottla.storage.housekeeping import begin_retention
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from tests.simulation.batches import any_batch, replicated
from tests.simulation.entry import Entry
from tests.simulation.history import History, batches_on_disk
from tests.simulation.reconciling import check_compacted, reconcile
from tests.unit.storage.logs import FOLDER, NOW_MS

ORDERS = ("orders", 0)
IDEMPOTENT = (1, 2, 3)
TRANSACTIONAL = (11, 12, 13)
CODECS = (Codec.NONE, Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)


class World:
    """Each method is something that happens to a partition; the history is kept beside it."""

    def __init__(self, seed: int, *, compacts: bool | None = None) -> None:
        self.chance = random.Random(seed)
        self.disk = SimulatedDisk(self.chance, garbage=self.chance.random() < 0.5)
        self.disk.make_folder("/data")
        self.disk.sync_folder("/")
        chosen = random.Random(seed).random() < 0.5 if compacts is None else compacts
        self.config = LogConfig(
            segment_bytes=self.chance.choice((300, 700, 2000, 100_000)),
            index_interval_bytes=self.chance.choice((1, 100, 400)),
            retention_ms=random.Random(-seed).choice((500, 2000, 1_000_000)),
            retention_bytes=random.Random(seed).choice((-1, -1, 3000)),
            compacts=chosen,
            min_cleanable_dirty_ratio=0.01,
            delete_retention_ms=200,
        )
        self.compactor: Compactor | None = None
        self.cleaning_below = 0
        self.cleaned_up_to: dict[TopicPartition, int] = {}
        self.dropping: Dropped | None = None
        self.history = History()
        self.possible: list[Entry] = []  # handed to the disk, with no answer yet
        self.erasing = False  # all of it is being forgotten
        self.checkpoint = (0, 0)  # recovery point and log start, as the directory saved them
        self.now_ms = NOW_MS
        self.leader_epoch = 0
        self.flushing: tuple[Flush, int] | None = None
        self.log = self._open(was_clean=True)

    # Appends

    def append(self) -> None:
        """Several batches that share a write."""
        with suppress(OSError):
            for _ in range(self.chance.randint(1, 4)):
                self._queue()
        self.commit()

    def _queue(self) -> None:
        kind = self.chance.random()
        if kind < 0.15:
            self._queue_marker()
        elif kind < 0.3 and not self.possible:
            self._queue_as_follower()
        else:
            producer_id = self.chance.choice((-1, -1, *IDEMPOTENT, *TRANSACTIONAL))
            self._queue_from_client(producer_id)

    def _queue_from_client(self, producer_id: int) -> None:
        state = self.log.producers.get(producer_id)
        view = any_batch(
            self.chance,
            timestamp=self._tick(),
            codec=self.chance.choice(CODECS),
            producer_id=producer_id,
            base_sequence=-1 if producer_id < 0 else state.last_sequence + 1 if state else 0,
            is_transactional=producer_id in TRANSACTIONAL,
            keyed=self.config.compacts,
        )
        if len(view) > self.config.segment_bytes:  # another leader's is taken whatever its size
            with pytest.raises(KafkaError, match="RECORD_LIST_TOO_LARGE"):
                self.log.append(view, leader_epoch=self.leader_epoch, now_ms=self.now_ms)
            return
        appended = self.log.append(view, leader_epoch=self.leader_epoch, now_ms=self.now_ms)
        self.possible.append(Entry(appended.first_offset, appended.last_offset, bytes(view)))

    def _queue_marker(self) -> None:
        producer_id = self.chance.choice(TRANSACTIONAL)
        control_type = self.chance.choice((ControlType.ABORT, ControlType.COMMIT))
        self._tick()
        appended = self.log.append_marker(
            control_type,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
            leader_epoch=self.leader_epoch,
            now_ms=self.now_ms,
        )
        data = build_end_transaction(
            control_type,
            offset=appended.first_offset,
            timestamp=self.now_ms,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
            leader_epoch=self.leader_epoch,
        )
        self.possible.append(Entry(appended.first_offset, appended.last_offset, data))

    def _queue_as_follower(self) -> None:
        """Batches of another leader, perhaps of several epochs."""
        entries = replicated(
            self.chance,
            offset=self.log.next_offset,
            leader_epoch=self.leader_epoch,
            timestamp=self._tick(),
            keyed=self.config.compacts,
        )
        header = entries[-1].batch().header
        assert header is not None
        self.leader_epoch = header.partition_leader_epoch
        self.possible += entries
        data = memoryview(b"".join(entry.data for entry in entries))
        try:
            append_as_follower(self.log, data, now_ms=self.now_ms)
        except OSError:
            del self.possible[-len(entries) :]
            raise

    def commit(self) -> None:
        """What was queued is written, or has never been."""
        with suppress(OSError):
            self.log.commit()
        written = [entry for entry in self.possible if entry.first < self.log.next_offset]
        assert written == self.possible[: len(written)]
        self.history.add(written)
        self.possible = []
        assert self.log.next_offset == self.history.end

    def _tick(self) -> int:
        """Time goes on; producers' clocks only mostly."""
        self.now_ms += self.chance.randint(0, 50)
        return self.now_ms + self.chance.choice((0, 0, 0, self.chance.randint(-300, 300)))

    # What else happens

    def roll(self) -> None:
        self.log.roll(now_ms=self.now_ms)

    def try_roll(self) -> None:
        with suppress(OSError):
            self.roll()

    def new_leader(self) -> None:
        self.leader_epoch += self.chance.randint(1, 2)
        with suppress(OSError):
            self.log.start_epoch(self.leader_epoch)

    def truncate(self) -> None:
        lowest = max(self.history.start, self.log.log_start_offset)
        self._truncate(self.chance.randint(lowest, self.history.end))

    def _truncate(self, offset: int) -> None:
        if offset >= self.log.next_offset:
            assert not truncate(self.log, offset, now_ms=self.now_ms)
            return
        if offset <= self.log.segments[0].base_offset:
            self._restart(offset, lambda: truncate(self.log, offset, now_ms=self.now_ms))
            return
        before = list(self.history.entries)
        self.history.cut(offset)
        if self.flushing is not None:
            self.flushing = (self.flushing[0], min(self.flushing[1], self.history.end))
        # Until it is done, the disk may hold more than what is to stay.
        self.possible = before[len(self.history.entries) :]
        base_offset = self.log.segments[self.log.segment_number(offset)].base_offset
        self._lower_checkpoint(base_offset)
        truncate(self.log, offset, now_ms=self.now_ms)
        self.possible = []
        assert self.log.recovery_point <= self.history.durable_end
        self.new_leader()

    def _lower_checkpoint(self, offset: int) -> None:
        """As every directory does before a cut."""
        self.checkpoint = (min(self.checkpoint[0], offset), min(self.checkpoint[1], offset))
        for partition, cleaned in list(self.cleaned_up_to.items()):
            self.cleaned_up_to[partition] = min(cleaned, offset)

    def restart(self) -> None:
        offset = self.history.end + self.chance.randint(0, 100)
        self._restart(offset, lambda: restart(self.log, offset, now_ms=self.now_ms))

    def _restart(self, offset: int, restart_log: Callable[[], object]) -> None:
        """Half done, anything may be left of the log: whoever asked for it will ask again."""
        self.erasing = True
        self._lower_checkpoint(offset)
        self.possible, self.history.entries = self.history.entries, []
        self.history.origin = self.history.start = self.checkpoint[1]
        restart_log()
        self.possible, self.erasing = [], False
        self.history.start_over(offset)
        if self.flushing is not None:
            self.flushing = (self.flushing[0], 0)

    def drop_oldest(self) -> None:
        count = self.chance.randint(1, len(self.log.segments))
        starts = [segment.base_offset for segment in self.log.segments] + [self.log.next_offset]
        self.history.advance_start(starts[count])
        renamed = drop_oldest(self.log, count, now_ms=self.now_ms)
        for path in renamed if self.chance.random() < 0.5 else ():
            self.disk.remove(path)

    def retain(self) -> None:
        """What retention drops leaves the log at once, and the disk when a file thread gets to it.

        It is dropped for good as far as the high watermark goes.
        """
        self.finish_drop()
        self.log.advance_high_watermark(self.chance.randint(self.history.start, self.history.end))
        try:
            self.dropping = begin_retention(self.log, now_ms=self.now_ms)
        finally:
            self.history.advance_start(self.log.log_start_offset)
        assert self.log.log_start_offset <= self.log.high_watermark

    def finish_drop(self) -> None:
        if self.dropping is not None:
            dropping, self.dropping = self.dropping, None
            dropping.run()
            note_dropped(self.log, dropping)

    def retain_and_finish(self) -> None:
        self.retain()
        self.finish_drop()

    def begin_compaction(self) -> None:
        """The cleaner has done its work; the swap comes later, when other things have happened."""
        if self.compactor is not None:
            self.finish_compaction()
        if self.chance.random() < 0.7:
            self.flush()
        self.log.advance_high_watermark(self.log.next_offset)
        compactor = Compactor(InlineCleaner(self.disk), map_bytes=1_000_000)
        if compactor.start({ORDERS: self.log}, self.cleaned_up_to, now_ms=self.now_ms):
            self.compactor = compactor
            self.cleaning_below = min(self.log.active.base_offset, self.log.recovery_point)

    def finish_compaction(self) -> None:
        if self.compactor is None:
            return
        compactor, self.compactor = self.compactor, None
        self.history.cleaned = self._cleaned_entries()
        self.history.cleaned_below = self.cleaning_below
        self.history.compacted_below = max(self.history.compacted_below, self.cleaning_below)
        replaced = compactor.poll()
        assert not compactor.is_busy
        if replaced:
            found = batches_on_disk(self.log)
            check_compacted(self.history, found, start=self.log.log_start_offset)
            # What was dropped is there until it is set aside, and a crash would bring it back.
            first = self.log.segments[0].base_offset
            dropped = [entry for entry in self.history.entries if entry.last < first]
            self.history.entries = dropped + found
            self.history.origin = self.log.next_offset
        self.history.cleaned = None
        for path in replaced if self.chance.random() < 0.5 else ():
            self.disk.remove(path)

    def compact(self) -> None:
        self.begin_compaction()
        self.finish_compaction()

    def _cleaned_entries(self) -> list[Entry]:
        return [
            Entry(batch.base_offset, batch.last_offset, bytes(batch.view))
            for name in self.disk.names(FOLDER)
            if name.endswith(".log.cleaned")
            for batch in read_batches(self.disk.read(f"{FOLDER}/{name}"))
        ]

    def advance_start(self) -> None:
        offset = self.chance.randint(self.history.start, self.history.end)
        self.history.advance_start(offset)
        advance_start(self.log, offset)

    def begin_flush(self) -> None:
        begun = begin_flush(self.log)
        self.flushing = None if begun is None else (begun, self.history.end)

    def finish_flush(self) -> None:
        """The file thread comes to it later, when other things have happened."""
        if self.flushing is None:
            return
        flush, up_to = self.flushing
        self.flushing = None
        flush.run()
        self.history.durable_end = max(self.history.durable_end, min(up_to, self.history.end))
        end_flush(self.log, flush)
        assert self.log.recovery_point <= self.history.durable_end

    def flush(self) -> None:
        self.begin_flush()
        self.finish_flush()

    def save_checkpoint(self) -> None:
        self.checkpoint = (self.log.recovery_point, self.log.log_start_offset)

    def fill_disk(self) -> None:
        """Work goes on while nothing can grow; then there is room again."""
        self.disk.fill_up()
        for _ in range(self.chance.randint(1, 4)):
            doing = self.chance.choice((self.append, self.append, self.try_roll, self.truncate))
            doing()
        self.disk.make_room()
        self.append()

    # Ends

    def close(self) -> None:
        self.dropping = None
        close(self.log)
        self.history.durable_end = self.history.end

    def reopen_cleanly(self, meanwhile: Callable[[SimulatedDisk], object] = bool) -> None:
        self.close()
        self.save_checkpoint()
        self._forget_process()
        self.disk = self.disk.kill() if self.chance.random() < 0.5 else self.disk.crash()
        meanwhile(self.disk)
        self.log = self._open(was_clean=True)
        reconcile(self.history, self.log, must_reach=self.history.end)

    def kill(self) -> None:
        self.end_with(self.disk.kill(), must_reach=0 if self.erasing else self.history.end)

    def cut_power(self) -> None:
        must_reach = 0 if self.erasing else self.history.durable_end
        self.end_with(self.disk.crash(), must_reach=must_reach)

    def end_with(self, after: SimulatedDisk, *, must_reach: int, dies_again: float = 0.3) -> None:
        """The process is gone; open what it left, and hold it against the history."""
        self.history.add(self.possible)
        self._forget_process()
        self.disk = after
        while self.chance.random() < dies_again:
            if not self._dies_while_opening():
                break
            if self.chance.random() < 0.5:
                self.disk = self.disk.kill()
            else:
                self.disk = self.disk.crash()
                must_reach = min(must_reach, self.history.durable_end)
        try:
            self.log = self._open(was_clean=False)
        except OSError:  # it died while its disk was full
            self.disk.make_room()
            self.log = self._open(was_clean=False)
        self.disk.make_room()
        reconcile(self.history, self.log, must_reach=must_reach)
        self.leader_epoch += 1

    def _dies_while_opening(self) -> bool:
        self.disk.fail_at(self.chance.randint(1, 10))
        try:
            with suppress(OSError):
                self._open(was_clean=False)
        except Crashed:
            return True
        self.disk.fail_at(0)
        return False

    def _forget_process(self) -> None:
        self.possible, self.erasing = [], False
        self.flushing = self.compactor = self.dropping = None

    def _open(self, *, was_clean: bool) -> Log:
        found = Found(was_clean, *self.checkpoint)
        log = open_log(self.disk, FOLDER, self.config, found, now_ms=self.now_ms)
        self.disk.sync_folder("/data")  # as a directory does
        return log

    # Chance

    def step(self) -> None:
        """One random thing."""
        doings: list[tuple[Callable[[], None], int]] = [
            (self.append, 60),
            (self.roll, 4),
            (self.new_leader, 4),
            (self.truncate, 4),
            (self.restart, 1),
            (self.drop_oldest, 3),
            (self.advance_start, 3),
            (self.retain, 4),
            (self.finish_drop, 4),
            (self.begin_compaction, 5 * self.config.compacts),
            (self.finish_compaction, 5 * self.config.compacts),
            (self.compact, 8 * self.config.compacts),
            (self.flush, 5),
            (self.begin_flush, 5),
            (self.finish_flush, 5),
            (self.save_checkpoint, 8),
            (self.fill_disk, 3),
            (self.reopen_cleanly, 2),
        ]
        names, weights = zip(*doings, strict=True)
        (doing,) = self.chance.choices(names, weights)
        doing()

    def live_until_a_crash(self, *, most_steps: int = 40) -> None:
        """Random things until the process dies, between two operations of the disk or within."""
        steps = self.chance.randint(1, most_steps)
        if self.chance.random() < 0.7:
            done = self.disk.faults.operation_count
            self.disk.fail_at(done + self.chance.randint(1, 3 * steps))
        with suppress(Crashed):
            for _ in range(steps):
                self.step()
        if self.chance.random() < 0.4:
            self.kill()
        else:
            self.cut_power()
