"""Every client that is tried, with what it can: the one list that the tests are made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.clients import go_client, java_client, node_client
from tests.clients.aiokafka_client import AiokafkaClient
from tests.clients.client import (
    ALL_CODECS,
    CONSUME,
    DELETE_RECORDS,
    EVERYTHING,
    PIPELINING,
    Client,
)
from tests.clients.confluent_client import ConfluentClient
from tests.clients.kafka_python_client import KafkaPythonClient

_NO_ZSTD = ALL_CODECS[:-1]


class Entry(NamedTuple):
    name: str
    start: Callable[[str, Path], Client]  # with the broker's address, and a folder for its log
    codecs: Sequence[str] = ALL_CODECS
    abilities: Sequence[str] = EVERYTHING


def _java(version: str) -> Callable[[str, Path], Client]:
    return partial(java_client.start, version)


def _without(*abilities: str) -> list[str]:
    return [ability for ability in EVERYTHING if ability not in abilities]


# When it is idempotent, it sends a partition's next batch only after the answer to the last one.
_IN_TURN = _without(PIPELINING)

ROSTER = (
    Entry("confluent-kafka", lambda bootstrap, _: ConfluentClient(bootstrap)),
    Entry("kafka-python", lambda bootstrap, _: KafkaPythonClient(bootstrap), abilities=_IN_TURN),
    Entry("aiokafka", lambda bootstrap, _: AiokafkaClient(bootstrap), abilities=_IN_TURN),
    # It reads and writes only the formats before 0.11: for it the broker converts. Producers have
    # ids since then, so it cannot be idempotent either.
    Entry("java-0.10.2", _java("0.10.2.2"), _NO_ZSTD, (CONSUME,)),
    Entry("java-2.0", _java("2.0.0"), _NO_ZSTD),
    Entry("java-3.9", _java("3.9.1")),
    Entry("java-4.3", _java("4.3.0")),
    Entry("franz-go", partial(go_client.start, "franz")),
    Entry("sarama", partial(go_client.start, "sarama"), abilities=_IN_TURN),
    # Its other codecs are packages of other people, it sends what it is given as one batch and
    # waits for the answer, it reads only in groups, and where records are to be deleted it takes a
    # leader with the id 0 for none.
    Entry(
        "kafkajs",
        node_client.start,
        ("none", "gzip"),
        _without(PIPELINING, CONSUME, DELETE_RECORDS),
    ),
)
READER = "confluent-kafka"  # for whoever cannot read


def able(*abilities: str) -> list[str]:
    """The names of those who have them all."""
    return [
        entry.name for entry in ROSTER if all(ability in entry.abilities for ability in abilities)
    ]
