"""One topic with 2,000 partitions: made, written and read back by one client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.clients.client import PATIENCE_S, ClientFailed, Sent
from tests.clients.confluent_client import ConfluentClient
from tests.differential.case import DEFAULT, SETTINGS
from tests.targets.target import TARGETS, started

PARTITIONS = 2_000
RECORDS = [Sent(b"%d" % (i // 2), partition=i // 2) for i in range(2 * PARTITIONS)]


@pytest.fixture(params=TARGETS)
def bootstrap(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A broker of its own: what it keeps open would slow the others' clients."""
    with started(request.param, tmp_path, SETTINGS[DEFAULT]) as address:
        yield address


def read_all(bootstrap: str, topic: str) -> list[tuple[int, int, bytes]]:
    """Partition, offset and value of every record, in that order."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False}
    )
    found: list[tuple[int, int, bytes]] = []
    try:
        consumer.list_topics(topic, timeout=PATIENCE_S)
        consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
        for _ in range(PATIENCE_S):
            for each in consumer.consume(len(RECORDS) - len(found), timeout=1):
                assert each.error() is None
                found.append((each.partition() or 0, each.offset() or 0, each.value() or b""))
            if len(found) == len(RECORDS):
                return sorted(found)
    finally:
        consumer.close()
    raise ClientFailed(f"{len(found)} of {len(RECORDS)} records")


def test_two_thousand_partitions_are_made_written_and_read(bootstrap: str) -> None:
    client = ConfluentClient(bootstrap)
    try:
        # Each has files that must be on the disk before it counts: on a busy one that takes long.
        wanted = [NewTopic("many", PARTITIONS, 1)]
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics(wanted, request_timeout=4 * PATIENCE_S)["many"].result()
        assert client.partition_count("many") == PARTITIONS
        assert client.produce("many", RECORDS) == [0, 1] * PARTITIONS
        expected = [
            (number, offset, b"%d" % number) for number in range(PARTITIONS) for offset in (0, 1)
        ]
        assert read_all(bootstrap, "many") == expected
        client.delete_topic("many")
        assert "many" not in client.topics()
    finally:
        client.close()
