"""What the controller has to tell the brokers, collected, then as one request of a kind for each.

A broker must hear them in this order: LeaderAndIsr, UpdateMetadata, StopReplica.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ottla.controller.context import ControllerContext, TopicPartition
from ottla.metadata.image import LEADER_DURING_DELETE, BrokerImage
from ottla.protocol.apis.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from ottla.protocol.apis.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from ottla.protocol.apis.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from ottla.protocol.primitives import ZERO_UUID
from ottla.protocol.schema import Message

NO_LEADER_EPOCH = -1
# Instead of an epoch: delete the replica whatever epoch the broker knows.
LEADER_EPOCH_DURING_DELETE = -2


class RequestBatch:
    """States are taken from the context by `prepare`, so the latest is told."""

    def __init__(self, context: ControllerContext, *, inter_broker_listener: str) -> None:
        self._context = context
        self._listener = inter_broker_listener
        self._led: dict[int, dict[TopicPartition, bool]] = {}
        self._stopped: dict[int, dict[TopicPartition, bool]] = {}
        self._informed: dict[int, None] = {}
        self._all_informed = False
        self._news: dict[TopicPartition, None] = {}
        self._led_states: dict[tuple[TopicPartition, bool], LeaderAndIsrPartitionState] = {}
        self._news_states: dict[TopicPartition, UpdateMetadataPartitionState] = {}

    def lead_or_follow(
        self, brokers: Iterable[int], at: TopicPartition, *, is_new: bool = False
    ) -> None:
        """Tell these brokers their part in the partition, and everybody who leads it."""
        for broker in brokers:
            told = self._led.setdefault(broker, {})
            told[at] = is_new or told.get(at, False)
        self._all_informed = True
        self._news[at] = None

    def inform(self, brokers: Iterable[int], partitions: Iterable[TopicPartition]) -> None:
        """Tell these brokers which brokers live, and who leads the partitions."""
        self._informed.update(dict.fromkeys(brokers))
        self._news.update(dict.fromkeys(partitions))

    def stop(self, broker: int, at: TopicPartition, *, delete: bool) -> None:
        told = self._stopped.setdefault(broker, {})
        told[at] = delete or told.get(at, False)

    def prepare(self) -> Iterator[None]:
        """Builds what `take` puts together, partition by partition: it may be many.

        The context must stay as it is until they are taken.
        """
        for told in self._led.values():
            for at, is_new in told.items():
                if (at, is_new) not in self._led_states:
                    state = self._leader_and_isr_state(at, is_new=is_new)
                    self._led_states[at, is_new] = state
                    yield
        for at in self._news:
            if state_told := self._update_metadata_state(at):
                self._news_states[at] = state_told
                yield

    def take(self) -> list[tuple[int, Message]]:
        """The requests in the order in which they go out; the batch is empty after."""
        if self._all_informed:
            self._informed.update(dict.fromkeys(self._context.brokers))
            self._all_informed = False
        requests = [*self._leader_and_isrs(), *self._update_metadatas(), *self._stop_replicas()]
        self._led.clear()
        self._stopped.clear()
        self._informed.clear()
        self._news.clear()
        self._led_states.clear()
        self._news_states.clear()
        return requests

    def _leader_and_isrs(self) -> Iterator[tuple[int, Message]]:
        for broker, told in self._led.items():
            if broker not in self._context.brokers:
                continue
            topics: dict[str, list[LeaderAndIsrPartitionState]] = {}
            leaders: dict[int, None] = {}
            for at, is_new in told.items():
                state = self._led_states[at, is_new]
                topics.setdefault(at.topic, []).append(state)
                leaders[state.leader] = None
            yield (
                broker,
                LeaderAndIsrRequest(
                    controller_id=self._context.controller_id,
                    controller_epoch=self._context.epoch,
                    broker_epoch=self._context.brokers[broker].epoch,
                    topic_states=[
                        LeaderAndIsrTopicState(
                            topic_name=topic,
                            topic_id=self._context.topic_ids.get(topic, ZERO_UUID),
                            partition_states=partition_states,
                        )
                        for topic, partition_states in topics.items()
                    ],
                    live_leaders=self._live_leaders(leaders),
                ),
            )

    def _leader_and_isr_state(
        self, at: TopicPartition, *, is_new: bool
    ) -> LeaderAndIsrPartitionState:
        known = self._context.leaderships[at]
        assigned = self._context.replica_set(at)
        return LeaderAndIsrPartitionState(
            partition_index=at.partition,
            controller_epoch=known.controller_epoch,
            leader=known.leader,
            leader_epoch=known.leader_epoch,
            isr=list(known.isr),
            partition_epoch=known.version,
            replicas=list(assigned.replicas),
            adding_replicas=list(assigned.adding),
            removing_replicas=list(assigned.removing),
            is_new=is_new,
            leader_recovery_state=int(known.recovering),
        )

    def _live_leaders(self, leaders: Iterable[int]) -> list[LeaderAndIsrLiveLeader]:
        live = []
        for leader in leaders:
            known = self._context.brokers.get(leader)
            if known and (endpoint := known.image.endpoint(self._listener)):
                live.append(
                    LeaderAndIsrLiveLeader(
                        broker_id=leader, host_name=endpoint.host, port=endpoint.port
                    )
                )
        return live

    def _update_metadatas(self) -> Iterator[tuple[int, Message]]:
        topics: dict[str, list[UpdateMetadataPartitionState]] = {}
        for at, state in self._news_states.items():
            topics.setdefault(at.topic, []).append(state)
        # One list for all: only the broker epoch differs from request to request.
        topic_states = [
            UpdateMetadataTopicState(
                topic_name=topic,
                topic_id=self._context.topic_ids.get(topic, ZERO_UUID),
                partition_states=partition_states,
            )
            for topic, partition_states in topics.items()
        ]
        live_brokers = [_live_broker(known.image) for known in self._context.brokers.values()]
        for broker in self._informed:
            if known := self._context.brokers.get(broker):
                yield (
                    broker,
                    UpdateMetadataRequest(
                        controller_id=self._context.controller_id,
                        controller_epoch=self._context.epoch,
                        broker_epoch=known.epoch,
                        topic_states=topic_states,
                        live_brokers=live_brokers,
                    ),
                )

    def _update_metadata_state(self, at: TopicPartition) -> UpdateMetadataPartitionState | None:
        known = self._context.leaderships.get(at)
        if known is None:
            return None
        is_deleted = at.topic in self._context.deleting
        return UpdateMetadataPartitionState(
            partition_index=at.partition,
            controller_epoch=known.controller_epoch,
            leader=LEADER_DURING_DELETE if is_deleted else known.leader,
            leader_epoch=known.leader_epoch,
            isr=list(known.isr),
            zk_version=known.version,
            replicas=list(self._context.replica_set(at).replicas),
            offline_replicas=self._context.offline_replicas(at),
        )

    def _stop_replicas(self) -> Iterator[tuple[int, Message]]:
        for broker, told in self._stopped.items():
            if broker not in self._context.brokers:
                continue
            topics: dict[str, list[StopReplicaPartitionState]] = {}
            for at, delete in told.items():
                topics.setdefault(at.topic, []).append(
                    StopReplicaPartitionState(
                        partition_index=at.partition,
                        leader_epoch=self._stop_epoch(at),
                        delete_partition=delete,
                    )
                )
            yield (
                broker,
                StopReplicaRequest(
                    controller_id=self._context.controller_id,
                    controller_epoch=self._context.epoch,
                    broker_epoch=self._context.brokers[broker].epoch,
                    topic_states=[
                        StopReplicaTopicState(topic_name=topic, partition_states=states)
                        for topic, states in topics.items()
                    ],
                ),
            )

    def _stop_epoch(self, at: TopicPartition) -> int:
        if at.topic in self._context.deleting:
            return LEADER_EPOCH_DURING_DELETE
        known = self._context.leaderships.get(at)
        return known.leader_epoch if known else NO_LEADER_EPOCH


def _live_broker(image: BrokerImage) -> UpdateMetadataBroker:
    return UpdateMetadataBroker(
        id=image.id,
        endpoints=[
            UpdateMetadataEndpoint(
                port=endpoint.port,
                host=endpoint.host,
                listener=endpoint.listener,
                security_protocol=endpoint.security_protocol,
            )
            for endpoint in image.endpoints
        ],
        rack=image.rack,
    )
