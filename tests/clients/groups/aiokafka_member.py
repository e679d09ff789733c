"""aiokafka as a member of a group, on a loop of its own."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.structs import OffsetAndMetadata

from tests.clients.client import PATIENCE_S
from tests.clients.groups.history import ASSIGNED, REFUSED, REVOKED
from tests.clients.groups.options import RANGE, ROUND_ROBIN, Options
from tests.clients.groups.python_member import POLL_S, Commit, Partition, PythonMember

_ASSIGNORS = {RANGE: RangePartitionAssignor, ROUND_ROBIN: RoundRobinPartitionAssignor}


class AiokafkaMember(PythonMember):
    def __init__(self, bootstrap: str, name: str, options: Options) -> None:
        super().__init__(bootstrap, name, options)
        self._runner = asyncio.Runner()
        self.reading = asyncio.Lock()  # its rebalances do not wait for who is about to commit
        self._polling: asyncio.Task[None] | None = None

    def connect(self) -> None:
        self._runner.run(self._connect())

    async def _connect(self) -> None:
        options = self.options
        self.consumer = AIOKafkaConsumer(
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
        await self.consumer.start()

    def poll(self, timeout_s: float) -> None:
        self._runner.run(self._poll(timeout_s))

    async def _poll(self, timeout_s: float) -> None:
        if timeout_s > POLL_S:
            self._polling = asyncio.create_task(self.consumer.getmany(timeout_ms=timeout_s * 1000))
            await asyncio.wait([self._polling])
            return
        # Outside of the lock: in a rebalance this waits for the next assignment, whatever its
        # timeout is, and the rebalance waits for our listener. What it returns is still ours.
        found = await self.consumer.getmany(timeout_ms=int(timeout_s * 1000))
        async with self.reading:
            for partition, records in found.items():
                self.took(tuple(partition), [record.offset for record in records])
            await self.commit_soon(self.due())

    def wake(self) -> None:
        """As its users do: who waits for records is cancelled, if it waits already."""
        if self._polling is not None:
            self._runner.get_loop().call_soon_threadsafe(self._polling.cancel)

    def idle(self) -> None:
        self._runner.run(asyncio.sleep(POLL_S))

    async def commit_soon(self, due: Commit) -> None:
        if not due:
            return
        try:
            await self._commit(due)
        except Exception as error:
            self.journal.tell(REFUSED, due, text=repr(error))
        else:
            self.stored(due)

    def commit(self, offsets: Commit, *, wait: bool) -> None:
        self._runner.run(asyncio.wait_for(self._commit(offsets), PATIENCE_S))

    async def _commit(self, offsets: Commit) -> None:
        await self.consumer.commit(
            {
                TopicPartition(*partition): OffsetAndMetadata(offset, metadata)
                for partition, (offset, metadata) in offsets.items()
            }
        )

    def control(self, verb: str, partition: Partition, offset: int) -> Any:
        return self._runner.run(self._control(verb, TopicPartition(*partition), offset))

    async def _control(self, verb: str, where: Any, offset: int) -> Any:
        if verb == "seek":
            return self.consumer.seek(where, offset)
        if verb in ("pause", "resume"):
            return getattr(self.consumer, verb)(where)
        return await getattr(self.consumer, verb)(where)

    def disconnect(self) -> None:
        self._runner.run(self.consumer.stop())
        self._runner.close()


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, member: AiokafkaMember) -> None:
        self._member = member

    async def on_partitions_revoked(self, revoked: Any) -> None:
        member = self._member
        async with member.reading:
            await member.commit_soon(member.due(map(tuple, revoked)))
            member.journal.tell(REVOKED, map(tuple, revoked))
            member.uncommitted.clear()

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self._member.journal.tell(ASSIGNED, map(tuple, assigned))
