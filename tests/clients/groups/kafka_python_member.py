"""kafka-python as a member of a group."""

from __future__ import annotations

import warnings
from typing import Any

from tests.clients.client import PATIENCE_S
from tests.clients.groups.history import ASSIGNED, LOST, REFUSED, REVOKED
from tests.clients.groups.options import COOPERATIVE, RANGE, ROUND_ROBIN
from tests.clients.groups.python_member import POLL_S, Commit, Partition, PythonMember

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # how it reads its own files
    from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.structs import OffsetAndMetadata

_ASSIGNORS = {
    RANGE: RangePartitionAssignor,
    ROUND_ROBIN: RoundRobinPartitionAssignor,
    COOPERATIVE: CooperativeStickyAssignor,
}


class KafkaPythonMember(PythonMember):
    def connect(self) -> None:
        options = self.options
        self.consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap,
            client_id=self.name,
            group_id=options.group,
            group_instance_id=options.instance or None,
            partition_assignment_strategy=(_ASSIGNORS[options.assignor],),
            session_timeout_ms=options.session_ms,
            heartbeat_interval_ms=100,
            max_poll_interval_ms=options.max_poll_ms,
            max_poll_records=10,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=50,
            metadata_max_age_ms=500,
        )
        if options.assign:
            self.consumer.assign([TopicPartition(*each) for each in options.partitions()])
        elif options.pattern:
            self.consumer.subscribe(pattern=options.pattern, listener=_Listener(self))
        else:
            self.consumer.subscribe(options.topics.split(","), listener=_Listener(self))
            # Its leader joins again when its first metadata comes after its first join. As soon as
            # it has dealt out anew it sees no reason to join any more, and when no poll has waited
            # for the end of that join by then, none ever does: it hangs (3.0.12).
            self.consumer.topics()

    def poll(self, timeout_s: float) -> None:
        for partition, records in self.consumer.poll(timeout_ms=int(timeout_s * 1000)).items():
            self.took(tuple(partition), [record.offset for record in records])
        self.commit_due()

    def commit(self, offsets: Commit, *, wait: bool) -> None:
        asked = {
            TopicPartition(*partition): OffsetAndMetadata(offset, metadata, -1)
            for partition, (offset, metadata) in offsets.items()
        }
        if wait:
            self.consumer.commit(asked, timeout_ms=PATIENCE_S * 1000)
        else:
            self.consumer.commit_async(asked, callback=self._answered)

    def _answered(self, offsets: Any, answer: Any) -> None:
        if isinstance(answer, Exception):
            self.journal.tell(REFUSED, map(tuple, offsets), text=repr(answer))
        else:
            self.stored({tuple(each): (found.offset, "") for each, found in offsets.items()})

    def control(self, verb: str, partition: Partition, offset: int) -> Any:
        where = TopicPartition(*partition)
        if verb == "seek":
            return self.consumer.seek(where, offset)
        if verb == "pause":
            # A batch whose last records it handed out just now is put aside by a pause, and never
            # taken up again, nor is the partition asked for; one more poll ends it (3.0.12).
            self.poll(POLL_S)
        return getattr(self.consumer, verb)(where)

    def disconnect(self) -> None:
        self.consumer.close(autocommit=False)

    def generation(self) -> int:
        found: int = self.consumer.group_metadata().generation_id
        return found


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, member: KafkaPythonMember) -> None:
        self._member = member

    def on_partitions_assigned(self, assigned: Any) -> None:
        generation = self._member.generation()
        self._member.journal.tell(ASSIGNED, map(tuple, assigned), generation=generation)

    def on_partitions_revoked(self, revoked: Any) -> None:
        self._member.commit_due(map(tuple, revoked))
        self._over(REVOKED, revoked)

    def on_partitions_lost(self, lost: Any) -> None:
        self._over(LOST, lost)

    def _over(self, event: str, partitions: Any) -> None:
        self._member.journal.tell(event, map(tuple, partitions))
        for each in partitions:
            self._member.uncommitted.pop(tuple(each), None)
