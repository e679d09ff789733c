"""The coordinators of a broker, built from its configuration and over its replicas.

Their options are read once: none of them can be changed while a broker runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ottla.broker.coordinator_logs import CoordinatorLogs
from ottla.broker.transaction_markers import TransactionMarkers
from ottla.config import group_options
from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.settings import group_settings, offset_settings
from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.coordinators.transactions.requests import TopicPartition
from ottla.coordinators.transactions.settings import transaction_settings
from ottla.handlers.services import Verified, VerifyTransaction
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from ottla.protocol.records.compression import Codec
from ottla.protocol.schema import Message

if TYPE_CHECKING:
    from ottla.broker.broker import Broker


CallSoon = Callable[[Callable[[], None]], object]


def group_coordinator(broker: Broker, call_soon: CallSoon) -> GroupCoordinator:
    config, ports = broker.config, broker.ports
    codec = Codec(config[group_options.OFFSETS_TOPIC_COMPRESSION_CODEC])
    logs = CoordinatorLogs(
        GROUP_METADATA_TOPIC,
        broker.replicas,
        ports.clock,
        codec,
        acks=config[group_options.OFFSETS_COMMIT_REQUIRED_ACKS],
    )
    return GroupCoordinator(
        group_settings(config),
        offset_settings(config),
        open_log=logs.open,
        witness=broker.rebalances,
        timer=broker.timer,
        tick=broker.tick,
        clock=ports.clock,
        randomness=ports.randomness,
        call_soon=call_soon,
    )


def transaction_coordinator(broker: Broker, call_soon: CallSoon) -> TransactionCoordinator:
    logs = CoordinatorLogs(TRANSACTION_STATE_TOPIC, broker.replicas, broker.ports.clock, Codec.NONE)

    def tell(request: Message, to: Callable[[Message], None]) -> None:
        broker.loopback.tell(request, to)  # it is not there before we are

    return TransactionCoordinator(
        transaction_settings(broker.config),
        open_log=logs.open,
        new_producer_id=lambda to: _new_producer_id(broker, to),
        markers=TransactionMarkers(broker.id, broker.metadata, tell),
        timer=broker.timer,
        tick=broker.tick,
        clock=broker.ports.clock,
        call_soon=call_soon,
    )


def _new_producer_id(broker: Broker, to: Callable[[int | ErrorCode], None]) -> None:
    """At once, as a rule; else when the next block of them is there."""
    taken = broker.producer_ids.take()
    if taken is not None:
        to(taken)
        return

    async def wait() -> None:
        to(await broker.producer_ids.next())

    broker.tasks.spawn_for_client(wait(), "a client's producer id")


def transaction_verification(transactions: TransactionCoordinator) -> VerifyTransaction:
    """Asks the coordinator on this broker: there is no other yet."""

    def verify(
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[TopicPartition],
        to: Verified,
    ) -> None:
        to(
            transactions.verify_partitions(
                transactional_id,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                partitions=partitions,
            )
        )

    return verify
