"""The groups of one partition of the offsets log, while this broker leads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice

from ottla.coordinators.effects import Effects
from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.offsets import Offsets
from ottla.coordinators.groups.records import offset_key_start, parse_group_value
from ottla.coordinators.groups.replay import OFFSET_VERSIONS, restore
from ottla.coordinators.partitions import Partitions
from ottla.coordinators.replay import Replay
from ottla.coordinators.runtime import Runtime
from ottla.coordinators.timers import Key, Timers
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from ottla.timing.clock import Clock
from ottla.timing.timer import Timer

_GROUPS_A_STEP = 20


class HostedGroup:
    """A group, its offsets and its timers."""

    __slots__ = ("group", "key_start", "offsets", "timers")

    def __init__(
        self, group: Group, timer: Timer, on_due: Callable[[HostedGroup, Key, int], None]
    ) -> None:
        self.group = group
        self.offsets = Offsets()
        self.timers = Timers(timer, partial(on_due, self))
        self.key_start = offset_key_start(group.id)


class GroupPartition:
    """`is_loading` until its log is read; a new election is a new object."""

    def __init__(
        self,
        number: int,
        runtime: Runtime,
        *,
        new_group: Callable[[str], Group],
        timer: Timer,
        clock: Clock,
    ) -> None:
        self.number = number
        self.runtime = runtime
        self.groups: dict[str, HostedGroup] = {}
        self.is_loading = True
        self._new_group = new_group
        self._timer = timer
        self._clock = clock
        self._position = 0
        self._in_transactions: dict[int, dict[HostedGroup, None]] = {}  # by producer
        self._ended_meanwhile: list[tuple[int, bool]] = []

    @property
    def hosts(self) -> Mapping[str, HostedGroup]:
        return self.groups

    @property
    def is_closed(self) -> bool:
        return self.runtime.is_closed

    def new_replay(self) -> Replay:
        return Replay(f"{GROUP_METADATA_TOPIC}-{self.number}", transactional=OFFSET_VERSIONS)

    def restore(self, replay: Replay) -> Iterator[None]:
        yield from restore(replay, self)
        hosts = iter(list(self.groups.values()))
        while step := list(islice(hosts, _GROUPS_A_STEP)):
            now_ms = self._clock.now_ms()
            for hosted in step:
                self.carry_out(hosted, hosted.group.started(now_ms=now_ms), now_ms=now_ms)
            yield
        self._position = replay.next_offset
        self.is_loading = False
        ended, self._ended_meanwhile = self._ended_meanwhile, []
        for producer_id, is_commit in ended:
            self.transaction_ended(producer_id, is_commit=is_commit)

    def host(self, group_id: str) -> HostedGroup:
        """The group; a new one if there is none yet."""
        hosted = self.groups.get(group_id)
        if hosted is None:
            hosted = HostedGroup(self._new_group(group_id), self._timer, self._due)
            self.groups[group_id] = hosted
        return hosted

    def carry_out(self, hosted: HostedGroup, effects: Effects, *, now_ms: int) -> None:
        self.runtime.carry_out(hosted.group, effects, hosted.timers, now_ms=now_ms)

    def next_position(self) -> int:
        """Places in the log are compared only: numbers that ascend as the log does will do."""
        self._position += 1
        return self._position

    def transaction_began(self, producer_id: int, hosted: HostedGroup) -> None:
        """With offsets of the group in it, that wait for its end."""
        self._in_transactions.setdefault(producer_id, {})[hosted] = None

    def transaction_ended(self, producer_id: int, *, is_commit: bool) -> None:
        """Its marker is in the log."""
        if self.is_loading:
            # Whether the marker was read is not known; to hear of it twice does no harm, since
            # nobody commits here before all is loaded.
            self._ended_meanwhile.append((producer_id, is_commit))
            return
        for hosted in self._in_transactions.pop(producer_id, {}):
            hosted.offsets.end_transaction(producer_id, committed=is_commit)

    def close(self) -> None:
        """Whoever waits hears that the coordinator is elsewhere."""
        self.runtime.close()
        now_ms = self._clock.now_ms()
        for hosted in self.groups.values():
            self.carry_out(hosted, hosted.group.unload(now_ms=now_ms), now_ms=now_ms)
            hosted.timers.cancel_all()

    def offsets_of(self, group_id: str) -> Offsets:
        return self.host(group_id).offsets

    def pending_offsets_of(self, group_id: str, producer_id: int) -> Offsets:
        hosted = self.host(group_id)
        self.transaction_began(producer_id, hosted)
        return hosted.offsets

    def restore_group(self, group_id: str, value: bytes) -> None:
        found = parse_group_value(value)
        self.host(group_id).group.apply(found, now_ms=self._clock.now_ms())

    def _due(self, hosted: HostedGroup, key: Key, due_ms: int) -> None:
        # The wall's clock may have been set back meanwhile; what is due stays due.
        now_ms = max(self._clock.now_ms(), due_ms)
        self.carry_out(hosted, hosted.group.timer_due(key, now_ms=now_ms), now_ms=now_ms)


GroupPartitions = Partitions[GroupPartition, HostedGroup]
