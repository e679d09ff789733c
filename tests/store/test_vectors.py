"""Every node that Kafka wrote is read, and written again byte for byte.

`znodes` and `old-znodes` are trees that brokers of 3.9.1 and 2.0.0 left; `encoded-znodes` is what
the encoders of 3.9.1 make of rarer values.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from ottla.store import paths, znodes
from ottla.store.registration import BrokerRegistration

VECTORS = Path(__file__).parent / "vectors"


class Node(Protocol):
    def encode(self) -> bytes: ...


NODES: list[tuple[str, Callable[[bytes, str], Node]]] = [
    (r"/controller", znodes.Controller.decode),
    (r"/controller_epoch", znodes.ControllerEpoch.decode),
    (r"/cluster/id", znodes.ClusterId.decode),
    (r"/feature", znodes.Feature.decode),
    (r"/latest_producer_id_block", znodes.ProducerIdBlock.decode),
    (r"/brokers/ids/\d+", BrokerRegistration.decode),
    (r"/brokers/topics/[^/]+", znodes.TopicAssignment.decode),
    (r"/brokers/topics/[^/]+/partitions/\d+/state", znodes.PartitionState.decode),
    (r"/config/changes/config_change_\d{10}", znodes.ConfigChange.decode),
    (r"/config/(topics|clients|users|brokers|ips)/.+", znodes.Config.decode),
    (r"/admin/reassign_partitions", znodes.ReassignPartitions.decode),
    (r"/admin/preferred_replica_election", znodes.PreferredReplicaElection.decode),
    (r"/isr_change_notification/.+", znodes.IsrChange.decode),
    (r"/log_dir_event_notification/.+", znodes.LogDirEvent.decode),
    (r"/consumers/[^/]+/offsets/[^/]+/\d+", znodes.ConsumerOffset.decode),
]
# Whoever recorded the trees wrote this one, with spaces.
FOREIGN = {"/admin/reassign_partitions"}
NOT_OURS = ("/kafka-acl", "/zookeeper")


def trees(name: str) -> list[dict[str, dict[str, str | None]]]:
    with gzip.open(VECTORS / f"{name}.json.gz", "rt", encoding="utf-8") as stages:
        return [stage["znodes"] for stage in json.load(stages)]


def encoded() -> list[tuple[str, str]]:
    with gzip.open(VECTORS / "encoded-znodes.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [(case["path"], case["raw"]) for case in map(json.loads, lines)]


def written(name: str) -> list[tuple[str, str]]:
    return [
        (path, node["raw"])
        for tree in trees(name)
        for path, node in tree.items()
        if node["raw"] and not path.startswith(NOT_OURS)
    ]


def again(path: str, raw: str) -> str:
    decode = next(decode for pattern, decode in NODES if re.fullmatch(pattern, path))
    return decode(raw.encode(), path).encode().decode()


@pytest.mark.parametrize("name", ["znodes", "old-znodes"])
def test_what_a_broker_wrote_is_written_again(name: str) -> None:
    cases = written(name)
    assert len(cases) > 50
    for path, raw in cases:
        wanted = json.dumps(json.loads(raw), separators=(",", ":")) if path in FOREIGN else raw
        assert again(path, raw) == wanted


@pytest.mark.parametrize(("path", "raw"), encoded())
def test_what_kafka_encodes_is_encoded_again(path: str, raw: str) -> None:
    assert again(path, raw) == raw


def test_every_kind_of_node_was_tried() -> None:
    tried = [path for path, _ in (*written("znodes"), *written("old-znodes"), *encoded())]
    for pattern, _ in NODES:
        assert any(re.fullmatch(pattern, path) for path in tried), pattern


@pytest.mark.parametrize("name", ["znodes", "old-znodes"])
def test_the_roots_are_those_of_a_broker_that_has_started(name: str) -> None:
    started = trees(name)[0]
    new_in_2_7 = {"/config/ips"} if name == "old-znodes" else set()
    assert {*paths.PERSISTENT_ROOTS} - started.keys() == new_in_2_7


def test_every_path_of_a_broker_has_a_function() -> None:
    tree = trees("znodes")[2]
    for path in (
        paths.broker(1),
        paths.topic("plain"),
        paths.partitions("plain"),
        paths.partition("plain", 1),
        paths.partition_state("plain", 1),
        paths.config_type("topics"),
        paths.config(paths.entity_path({"topics": "plain"})),
        paths.config(paths.entity_path({"clients": None})),
        paths.config(paths.entity_path({"users": "alice"})),
        paths.config(paths.entity_path({"brokers": "0"})),
        f"{paths.CONFIG_CHANGE}0000000003",
    ):
        assert path in tree
