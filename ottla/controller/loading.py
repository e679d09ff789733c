"""Reads the whole cluster from the store, when a controller takes over."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.controller.context import ControllerContext, LiveBroker
from ottla.controller.fence import Fence
from ottla.controller.slices import in_slices
from ottla.controller.topic_records import TopicRecords, replica_sets
from ottla.metadata.delta import SECURITY_PROTOCOLS
from ottla.metadata.image import BrokerImage, Endpoint
from ottla.store import paths
from ottla.store.port import Entry, NoNode
from ottla.store.registration import BrokerRegistration


async def names_below(fence: Fence, path: str) -> list[str]:
    """No names if the node itself is not there: nobody has needed it yet."""
    try:
        return await fence.store.children(path)
    except NoNode:
        return []


async def load_brokers(fence: Fence) -> dict[int, LiveBroker]:
    ids = sorted(int(name) for name in await names_below(fence, paths.BROKER_IDS))
    entries = await fence.read(map(paths.broker, ids))
    return {
        broker: live_broker(broker, entry)
        for broker, entry in zip(ids, entries, strict=True)
        if entry
    }


def live_broker(broker: int, entry: Entry) -> LiveBroker:
    registration = BrokerRegistration.decode(entry.data, entry.path)
    endpoints = tuple(
        Endpoint(
            listener=endpoint.listener,
            host=endpoint.host,
            port=endpoint.port,
            security_protocol=_security_protocol(registration, endpoint.listener),
        )
        for endpoint in registration.endpoints
    )
    image = BrokerImage(id=broker, endpoints=endpoints, rack=registration.rack)
    return LiveBroker(image=image, epoch=entry.czxid)


def _security_protocol(registration: BrokerRegistration, listener: str) -> int:
    name = registration.security_protocols.get(listener, listener)
    return SECURITY_PROTOCOLS.index(name) if name in SECURITY_PROTOCOLS else 0


async def load_topics(
    context: ControllerContext, records: TopicRecords, topics: Iterable[str]
) -> None:
    async for topic, assignment in in_slices((await records.read(list(topics))).items()):
        context.add_topic(topic, assignment.topic_id or b"", replica_sets(assignment))
