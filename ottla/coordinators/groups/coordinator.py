"""The group coordinator of a broker: every group whose partition of the offsets log it leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from ottla.coordinators.chore import Chore
from ottla.coordinators.groups.answers import (
    DeletedOffsets,
    DescribedGroup,
    FetchedOffset,
    ListedGroup,
    OffsetToCommit,
    PlainOffsets,
    TopicPartition,
)
from ottla.coordinators.groups.committing import Commit
from ottla.coordinators.groups.deletion import delete_groups, delete_offsets
from ottla.coordinators.groups.description import describe, listed
from ottla.coordinators.groups.expiry import expired
from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.java_hash import partition_of
from ottla.coordinators.groups.offset_rows import OffsetRows, RowsCommit
from ottla.coordinators.groups.offsets import Offsets, nothing_committed
from ottla.coordinators.groups.partition import GroupPartition, GroupPartitions, HostedGroup
from ottla.coordinators.groups.removal import Removal
from ottla.coordinators.groups.repeated_commit import Committer, RepeatedCommit
from ottla.coordinators.groups.requests import (
    NO_MEMBER_ID,
    GroupSettings,
    Join,
    JoinAnswer,
    LeaveAnswer,
    Leaving,
    Sync,
    SyncAnswer,
)
from ottla.coordinators.groups.settings import OffsetSettings
from ottla.coordinators.groups.state import GroupState
from ottla.coordinators.groups.witness import Witness
from ottla.coordinators.loading import Loads
from ottla.coordinators.log import CoordinatorLog
from ottla.coordinators.runtime import Runtime
from ottla.coordinators.slices import Slices
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer


class Randomness(Protocol):
    def bytes(self, count: int) -> bytes: ...


class GroupCoordinator:
    """Answers go to `to`, at once where nothing has to be waited for."""

    def __init__(
        self,
        groups: GroupSettings,
        offsets: OffsetSettings,
        *,
        open_log: Callable[[int], CoordinatorLog],  # by the number of a partition that is led here
        witness: Witness,
        timer: Timer,
        tick: Tick,
        clock: Clock,
        randomness: Randomness,
        call_soon: Callable[[Callable[[], None]], object],
    ) -> None:
        self.committed_count = 0  # offsets that were asked to be committed
        self.expired_count = 0
        self.deleted_count = 0
        self._groups = groups
        self._offsets = offsets
        self._witness = witness
        self._timer = timer
        self._clock = clock
        self._randomness = randomness
        self._slices = Slices(timer, call_soon)
        self.loads = Loads(self._slices, timer, buffer_bytes=offsets.load_buffer_bytes)
        self.partitions = GroupPartitions(
            open_log=open_log,
            new_partition=self._new_partition,
            hosts=lambda partition: partition.groups,
            loads=self.loads,
            tick=tick,
            clock=clock,
            timeout_ms=offsets.commit_timeout_ms,
        )
        interval_ms = offsets.retention_check_interval_ms
        self._expiry = Chore(self._expire, self._slices, timer, interval_ms=interval_ms)

    def start(self, partition_count: int) -> None:
        """From now on it answers. The count is that of __consumer_offsets, and never changes."""
        self.partitions.count = partition_count
        self.partitions.is_active = True
        self._expiry.start()

    def shut_down(self) -> None:
        """Whoever waits hears NOT_COORDINATOR, whoever asks later COORDINATOR_NOT_AVAILABLE."""
        self.partitions.is_active = False
        self.partitions.close()
        self._expiry.stop()

    def partition_for(self, group_id: str) -> int:
        return partition_of(group_id, self.partitions.count)

    def elected(self, partition: int, leader_epoch: int) -> None:
        """Loads the partition; an epoch that is not newer changes nothing."""
        self.partitions.elected(partition, leader_epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        """Unloads the partition. Without an epoch (StopReplica) in any case."""
        self.partitions.resigned(partition, leader_epoch)

    def join(self, group_id: str, join: Join, to: Callable[[JoinAnswer], None]) -> None:
        partition = self.partitions.find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        if isinstance(partition, ErrorCode):
            to(JoinAnswer(partition, join.member_id))
            return
        lowest, highest = self._groups[:2]
        if not lowest <= join.session_timeout_ms <= highest:
            # Here and not only in the group, for which it would be too late not to exist.
            to(JoinAnswer(ErrorCode.INVALID_SESSION_TIMEOUT, join.member_id))
        elif join.member_id != NO_MEMBER_ID and group_id not in partition.groups:
            to(JoinAnswer(ErrorCode.UNKNOWN_MEMBER_ID, join.member_id))
        else:
            hosted, now_ms = partition.host(group_id), self._clock.now_ms()
            effects = hosted.group.join(join, to, now_ms=now_ms, new_member_id=self._new_member_id)
            partition.carry_out(hosted, effects, now_ms=now_ms)

    def sync(self, group_id: str, sync: Sync, to: Callable[[SyncAnswer], None]) -> None:
        partition = self.partitions.find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        if partition is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            # Its generation is not known yet: it joins again.
            partition = ErrorCode.REBALANCE_IN_PROGRESS
        if isinstance(partition, ErrorCode):
            to(SyncAnswer(partition))
            return
        hosted = partition.groups.get(group_id)
        if hosted is None:
            to(SyncAnswer(ErrorCode.UNKNOWN_MEMBER_ID))
            return
        now_ms = self._clock.now_ms()
        partition.carry_out(hosted, hosted.group.sync(sync, to, now_ms=now_ms), now_ms=now_ms)

    def heartbeat(
        self,
        group_id: str,
        *,
        member_id: str,
        instance_id: str | None,
        generation: int,
        to: Callable[[ErrorCode], None],
    ) -> None:
        partition = self.partitions.find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        if isinstance(partition, ErrorCode):
            # While the log is read nobody is evicted, and nobody need worry.
            is_loading = partition is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            to(ErrorCode.NONE if is_loading else partition)
            return
        hosted = partition.groups.get(group_id)
        if hosted is None:
            to(ErrorCode.UNKNOWN_MEMBER_ID)
            return
        now_ms = self._clock.now_ms()
        effects = hosted.group.heartbeat(
            member_id, instance_id=instance_id, generation=generation, to=to, now_ms=now_ms
        )
        partition.carry_out(hosted, effects, now_ms=now_ms)

    def leave(
        self, group_id: str, leaving: Sequence[Leaving], to: Callable[[LeaveAnswer], None]
    ) -> None:
        partition = self.partitions.find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        if isinstance(partition, ErrorCode):
            to(LeaveAnswer(partition))
            return
        hosted = partition.groups.get(group_id)
        if hosted is None:
            unknown = tuple((one, ErrorCode.UNKNOWN_MEMBER_ID) for one in leaving)
            to(LeaveAnswer(ErrorCode.NONE, unknown))
            return
        now_ms = self._clock.now_ms()
        partition.carry_out(hosted, hosted.group.leave(leaving, to, now_ms=now_ms), now_ms=now_ms)

    def commit(
        self,
        group_id: str,
        offsets: Sequence[OffsetToCommit],
        to: Callable[[dict[TopicPartition, ErrorCode]], None],
        *,
        member_id: str = "",
        instance_id: str | None = None,
        generation: int = -1,
        retention_ms: int = -1,
    ) -> None:
        """Whether the topics exist is the handler's business. The group's name may be empty."""
        admitted = self._admit(group_id, member_id, instance_id, generation)
        if isinstance(admitted, ErrorCode):
            to({each[:2]: admitted for each in offsets})
            return
        partition, hosted, now_ms = admitted
        self.committed_count += len(offsets)
        Commit(partition, hosted, to).begin(
            offsets,
            max_metadata=self._offsets.max_metadata_length,
            retention_ms=retention_ms,
            now_ms=now_ms,
        )

    def commit_transactional(
        self,
        group_id: str,
        offsets: Sequence[OffsetToCommit],
        to: Callable[[dict[TopicPartition, ErrorCode]], None],
        *,
        producer_id: int,
        producer_epoch: int,
        member_id: str = "",
        instance_id: str | None = None,
        generation: int = -1,
    ) -> None:
        """They count when the transaction is committed. That it is open is the caller's to know."""
        partition = self.find_transactional(group_id)
        if isinstance(partition, ErrorCode):
            to({each[:2]: partition for each in offsets})
            return
        hosted = partition.host(group_id)
        error = hosted.group.check_transactional_commit(
            member_id=member_id, instance_id=instance_id, generation=generation
        )
        if error:
            to({each[:2]: error for each in offsets})
            return
        self.committed_count += len(offsets)
        Commit(partition, hosted, to, producer=(producer_id, producer_epoch)).begin(
            offsets,
            max_metadata=self._offsets.max_metadata_length,
            now_ms=self._clock.now_ms(),
        )

    def find_transactional(self, group_id: str) -> GroupPartition | ErrorCode:
        """Where offsets of the group may be committed in a transaction, or why they cannot be."""
        return self.partitions.find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID

    def transaction_ended(self, partition: int, producer_id: int, *, is_commit: bool) -> None:
        """Its marker in that partition of the offsets log is committed."""
        found = self.partitions.led(partition)
        if found is not None:
            found.transaction_ended(producer_id, is_commit=is_commit)

    def commit_rows(
        self,
        group_id: str,
        offsets: Sequence[OffsetRows],
        to: Callable[[ErrorCode], None],
        *,
        member_id: str = "",
        instance_id: str | None = None,
        generation: int = -1,
    ) -> None:
        """As `commit`, for many at once, none of which is named twice."""
        admitted = self._admit(group_id, member_id, instance_id, generation)
        if isinstance(admitted, ErrorCode):
            to(admitted)
            return
        partition, hosted, now_ms = admitted
        self.committed_count += sum(len(each.places) for each in offsets)
        RowsCommit(hosted, offsets, to, now_ms=now_ms).begin(partition)

    def repeated_commit(self, who: Committer, place: TopicPartition) -> RepeatedCommit | None:
        """For when this one commits the offset of this partition again; None if it could not."""
        partition = self.partitions.find(who.group_id)
        if isinstance(partition, ErrorCode) or who.group_id not in partition.groups:
            return None
        hosted = partition.groups[who.group_id]
        return RepeatedCommit(who, place, partition, hosted, clock=self._clock, counts=self)

    def _admit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int
    ) -> tuple[GroupPartition, HostedGroup, int] | ErrorCode:
        """Whether somebody may commit now; if so, where."""
        partition = self.partitions.find(group_id)
        if isinstance(partition, ErrorCode):
            return partition
        if generation >= 0 and group_id not in partition.groups:
            return ErrorCode.ILLEGAL_GENERATION  # from one that nobody remembers
        hosted, now_ms = partition.host(group_id), self._clock.now_ms()
        error, effects = hosted.group.check_commit(
            member_id=member_id, instance_id=instance_id, generation=generation, now_ms=now_ms
        )
        partition.carry_out(hosted, effects, now_ms=now_ms)
        return error or (partition, hosted, now_ms)

    def fetch(
        self,
        group_id: str,
        partitions: Sequence[TopicPartition] | None,  # None: all
        *,
        require_stable: bool = False,
    ) -> tuple[ErrorCode, dict[TopicPartition, FetchedOffset]]:
        partition = self.partitions.find(group_id)
        if isinstance(partition, ErrorCode):
            return partition, {}
        hosted = partition.groups.get(group_id)
        if hosted is None:
            return ErrorCode.NONE, nothing_committed(partitions or ())
        return ErrorCode.NONE, hosted.offsets.fetch(partitions, require_stable=require_stable)

    def fetch_plain(
        self,
        group_id: str,
        partitions: Mapping[str, Sequence[int]] | None,  # by topic; None: all
        *,
        require_stable: bool = False,
    ) -> list[PlainOffsets] | None:
        """As `fetch`, ten times as fast; None where the answer needs more than plain offsets."""
        partition = self.partitions.find(group_id)
        if isinstance(partition, ErrorCode):
            return None
        hosted = partition.groups.get(group_id)
        offsets, found = hosted.offsets if hosted is not None else Offsets(), list[PlainOffsets]()
        if require_stable and not offsets.is_settled:
            return None
        wanted = offsets.by_topic() if partitions is None else partitions
        for topic, indexes in wanted.items():
            values = offsets.plain(topic, indexes)
            if values is None:
                return None
            found.append(PlainOffsets(topic, indexes, values))
        return found

    def delete_offsets(
        self,
        group_id: str,
        partitions: Sequence[TopicPartition],
        to: Callable[[DeletedOffsets], None],
    ) -> None:
        found = self.partitions.find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        if isinstance(found, ErrorCode):
            to(DeletedOffsets(found, {}))
        else:
            self.deleted_count += delete_offsets(found, group_id, partitions, self._clock, to)

    def delete_groups(
        self, group_ids: Sequence[str], to: Callable[[dict[str, ErrorCode]], None]
    ) -> None:
        delete_groups(self.partitions, group_ids, self._clock, to)

    def describe(self, group_id: str) -> DescribedGroup:
        partition = self.partitions.find(group_id)
        if isinstance(partition, ErrorCode):
            return DescribedGroup(partition)
        hosted = partition.groups.get(group_id)
        return describe(hosted.group if hosted is not None else None)

    def list_groups(
        self, states: Sequence[str] = (), types: Sequence[str] = ()
    ) -> tuple[ErrorCode, list[ListedGroup]]:
        """While something loads, what there is and COORDINATOR_LOAD_IN_PROGRESS."""
        if not self.partitions.is_active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE, []
        is_loading = self.partitions.is_loading
        error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if is_loading else ErrorCode.NONE
        groups = (hosted.group for _, hosted in self.partitions.hosted())
        return error, listed(groups, states=states, types=types)

    def topics_deleted(self, names: Sequence[str]) -> None:
        """Their offsets go, in every group."""
        self._slices.run(self._forget_topics(dict.fromkeys(names)), lambda: None)

    def _forget_topics(self, names: dict[str, None]) -> Iterator[None]:
        for partition, hosted in self.partitions.hosted():
            gone = [place for place in hosted.offsets.known() if place[0] in names]
            if gone:
                Removal(partition, hosted, self._clock, lambda _: None).begin(gone)
            yield

    def tend(self) -> None:
        """Expires offsets and groups; `start` has it called every so often."""
        self._expiry.run()

    def _expire(self) -> Iterator[None]:
        for partition, hosted in self.partitions.hosted():
            gone = self._expired(hosted)
            is_over = hosted.group.state is GroupState.EMPTY and not hosted.offsets
            if gone or is_over:
                self.expired_count += len(gone)
                Removal(partition, hosted, self._clock, lambda _: None).begin(gone)
            yield

    def _expired(self, hosted: HostedGroup) -> list[TopicPartition]:
        retention_ms = self._offsets.retention_ms
        now_ms = self._clock.now_ms()
        return expired(hosted.offsets, hosted.group, now_ms=now_ms, retention_ms=retention_ms)

    def _new_partition(self, number: int, leader_epoch: int, runtime: Runtime) -> GroupPartition:
        return GroupPartition(
            number, runtime, new_group=self._new_group, timer=self._timer, clock=self._clock
        )

    def _new_group(self, group_id: str) -> Group:
        return Group(group_id, self._groups, self._witness, now_ms=self._clock.now_ms())

    def _new_member_id(self, prefix: str) -> str:
        return f"{prefix}-{UUID(bytes=self._randomness.bytes(16), version=4)}"
