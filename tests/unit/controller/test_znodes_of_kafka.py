"""The same steps as two Kafka 3.9.1 brokers took leave the same bytes in the tree.

`znodes.json.gz` holds the tree of those brokers after each step.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ottla.controller.events import ElectionType
from ottla.controller.registration import create_roots
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store import paths
from tests.unit.controller.cluster import Cluster

VECTORS = Path(__file__).parents[2] / "store" / "vectors"

Tree = dict[str, dict[str, Any]]

CREATED = "topics created"
MOVED = "reassignment by the tool, with throttle (order of replicas only)"
ELECTED = "preferred leaders elected"
SHUT_DOWN = "broker 1 shut down"


def kafka_tree(stage: str) -> Tree:
    with gzip.open(VECTORS / "znodes.json.gz", "rt", encoding="utf-8") as file:
        stages = json.load(file)
    trees: dict[str, Tree] = {found["stage"]: found["znodes"] for found in stages}
    return trees[stage]


async def load(tree: MemoryTree, nodes: Tree) -> None:
    """All but what goes with a session; the next controller's epoch shall be Kafka's, 1."""
    store = MemoryStore(tree)
    for path in sorted(nodes):
        if path != "/" and not nodes[path]["ephemeral"]:
            data = "0" if path == paths.CONTROLLER_EPOCH else nodes[path]["raw"] or ""
            await store.create(path, data.encode())


@asynccontextmanager
async def two_brokers(stage: str | None) -> AsyncIterator[Cluster]:
    tree = MemoryTree()
    if stage:
        await load(tree, kafka_tree(stage))
    async with asyncio.TaskGroup() as group:
        made = Cluster(group, tree)
        await made.start(0)
        await made.start(1)
        yield made
        for broker in made.running.values():
            if broker.task:
                broker.task.cancel()


async def assert_same_topics(made: Cluster, stage: str) -> None:
    for path, node in kafka_tree(stage).items():
        if path.startswith(("/brokers/topics/", "/config/topics/")):
            assert await made.data(path) == (node["raw"] or "").encode(), path


def test_the_roots_are_kafkas() -> None:
    async def scenario() -> None:
        store = MemoryStore(MemoryTree())
        await create_roots(store)
        await create_roots(store)
        roots = [path for path in kafka_tree("two brokers started") if "kafka-acl" not in path]
        later = ("/brokers/ids/", "/cluster", "/controller", "/feature", "/delegation_token")
        for path in roots:
            assert path.startswith(later) or await store.read(path) is not None, path

    asyncio.run(scenario())


def test_created_topics_are_kafkas() -> None:
    async def scenario() -> None:
        nodes = kafka_tree(CREATED)
        async with two_brokers(None) as made:
            for path, node in nodes.items():
                if path.startswith("/brokers/topics/") and path.count("/") == 3:
                    made.drawn = [urlsafe_b64decode(node["data"]["topic_id"] + "==")]
                    name = path.rpartition("/")[2]
                    await made.create(
                        name,
                        {int(index): at for index, at in node["data"]["partitions"].items()},
                        nodes[paths.config(f"topics/{name}")]["data"]["config"],
                    )
            await assert_same_topics(made, CREATED)

    asyncio.run(scenario())


def test_a_new_controller_changes_nothing_that_is_well() -> None:
    async def scenario() -> None:
        async with two_brokers(ELECTED) as made:
            # Started one after the other, so the first sees the second's leaders as gone; with
            # both there, a third controller has nothing left to do.
            before = {path: await made.data(path) for path in kafka_tree(ELECTED)}
            await made.admin.delete(paths.CONTROLLER)
            await made.settled()
            for path, data in before.items():
                if path.startswith("/brokers/topics/"):
                    assert await made.data(path) == data, path

    asyncio.run(scenario())


def test_preferred_leaders_are_elected_as_kafka_does() -> None:
    async def scenario() -> None:
        async with both_at_once(MOVED) as made:
            await made.active.elect_leaders(ElectionType.PREFERRED, None)
            await made.settled()
            for path, node in kafka_tree(ELECTED).items():
                if path.endswith("/state"):
                    assert await made.data(path) == node["raw"].encode(), path

    asyncio.run(scenario())


def test_a_broker_goes_as_from_kafka() -> None:
    async def scenario() -> None:
        async with both_at_once(ELECTED) as made:
            epoch = made.running[1].registration.epoch
            assert await made.active.controlled_shutdown(1, broker_epoch=epoch) == []
            await made.settled()
            await made.kill(1)
            await assert_same_topics(made, SHUT_DOWN)

    asyncio.run(scenario())


@asynccontextmanager
async def both_at_once(stage: str) -> AsyncIterator[Cluster]:
    """Both are registered before broker 0 becomes controller."""
    tree = MemoryTree()
    await load(tree, kafka_tree(stage))
    async with asyncio.TaskGroup() as group:
        made = Cluster(group, tree)
        await made.start(1, with_controller=False)
        await made.start(0)
        yield made
        for broker in made.running.values():
            if broker.task:
                broker.task.cancel()
