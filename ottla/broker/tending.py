"""When the log directories are looked after: each kind of work at its own interval, in slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ottla.config import cleaner_options, log_options, replication_options, transaction_options
from ottla.config.broker_config import BrokerConfig
from ottla.config.option import Option
from ottla.storage.upkeep import Upkeep
from ottla.timing.clock import Clock
from ottla.timing.slices import SlicedWork
from ottla.timing.timer import Timer

_POLL_MS = 100
_WRITE_BACK_MS = 200
_REMOVE_MS = 1_000
_FLUSH_MS = 1_000
_LONGEST_MS = 24 * 60 * 60 * 1000  # an interval of "never" is looked at once a day

Work = Callable[[], Iterator[None]]


class Tending:
    """Runs until `stop`."""

    def __init__(
        self,
        upkeep: Upkeep,
        timer: Timer,
        clock: Clock,
        config: Callable[[], BrokerConfig],
        at_next_append: Callable[[Callable[[], None]], None],
    ) -> None:
        self._upkeep = upkeep
        self._timer = timer
        self._work = SlicedWork(timer)
        self._clock = clock
        self._config = config
        self._at_next_append = at_next_append
        self._polls = False  # for what the file threads and the cleaner have done

    def configure(self, config: BrokerConfig) -> None:
        """Sizes and speeds; the intervals are asked for anew each time."""
        self._upkeep.delete_delay_ms = config[log_options.LOG_SEGMENT_DELETE_DELAY_MS]
        compactor = self._upkeep.compactor
        compactor.map_bytes = config[cleaner_options.LOG_CLEANER_DEDUPE_BUFFER_SIZE]
        compactor.bytes_per_second = config[cleaner_options.LOG_CLEANER_IO_MAX_BYTES_PER_SECOND]

    def start(self) -> None:
        self.configure(self._config())
        upkeep, now_ms = self._upkeep, self._clock.now_ms
        first_ms = self._config()[log_options.LOG_INITIAL_TASK_DELAY_MS]
        checkpoint = log_options.LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS
        watermarks = replication_options.REPLICA_HIGH_WATERMARK_CHECKPOINT_INTERVAL_MS
        expiration = transaction_options.PRODUCER_ID_EXPIRATION_CHECK_INTERVAL_MS
        retention = log_options.LOG_RETENTION_CHECK_INTERVAL_MS
        works: list[tuple[Work, Callable[[], int]]] = [
            (lambda: upkeep.check_retention(now_ms()), self._ms(retention)),
            (lambda: upkeep.flush_due(now_ms()), self._flush_ms),
            (upkeep.save_checkpoints, self._ms(checkpoint)),
            (upkeep.save_high_watermarks, self._ms(watermarks)),
            (lambda: upkeep.forget_idle_producers(now_ms()), self._ms(expiration)),
            (lambda: upkeep.remove_files(now_ms()), lambda: _REMOVE_MS),
        ]
        if self._config()[cleaner_options.LOG_CLEANER_ENABLE]:
            backoff = self._ms(cleaner_options.LOG_CLEANER_BACKOFF_MS)
            works.append((lambda: upkeep.clean(now_ms()), backoff))
        for work, interval_ms in works:
            self._every(min(first_ms, interval_ms()), work, interval_ms)
        self._at_next_append(self._write_back_later)

    def _ms(self, option: Option[int]) -> Callable[[], int]:
        return lambda: min(self._config()[option], _LONGEST_MS)

    def _flush_ms(self) -> int:
        """Kafka's default is never; a topic with flush.ms of its own would wait for ever."""
        return min(self._config()[log_options.LOG_FLUSH_SCHEDULER_INTERVAL_MS], _FLUSH_MS)

    def _every(self, delay_ms: int, work: Work, interval_ms: Callable[[], int]) -> None:
        self._timer.call_after(
            delay_ms,
            lambda: self._run(work(), lambda: self._every(interval_ms(), work, interval_ms)),
        )

    def _write_back_later(self) -> None:
        """While nobody appends there is nothing to write, and nothing to look at."""
        steps = self._upkeep.write_back()
        again = partial(self._at_next_append, self._write_back_later)
        self._timer.call_after(_WRITE_BACK_MS, lambda: self._run(steps, again))

    def _run(self, steps: Iterator[None], then: Callable[[], None]) -> None:
        def done() -> None:
            then()
            self._poll_while_busy()

        self._work.run(steps, done)

    def _poll_while_busy(self) -> None:
        if self._upkeep.is_busy and not self._polls:
            self._polls = True
            self._timer.call_after(_POLL_MS, self._poll)

    def _poll(self) -> None:
        self._run(self._upkeep.poll(self._clock.now_ms()), self._polled)

    def _polled(self) -> None:
        self._polls = False

    def stop(self) -> None:
        self._work.stop()
