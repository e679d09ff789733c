"""Topics in the formats before 0.11: new clients write and read them, old ones read new ones."""

from __future__ import annotations

import pytest

from tests.clients.client import CONSUME, Sent
from tests.clients.conftest import Clients, make_topic
from tests.clients.roster import READER, able
from tests.clients.test_records import numbered

T0 = 1_600_000_000_000
FORMATS = ("0.9.0", "0.10.2", "0.11.0")
CODECS = ("none", "gzip", "snappy", "lz4")
OLDEST = "java-0.10.2"
# The first format's lz4 has a wrong header checksum for ever, and not every client knows it.
CANNOT_READ = {("0.9.0", "lz4"): ("aiokafka", "franz-go", "sarama")}
RECORDS = [
    Sent(None if i % 5 == 0 else b"value %d" % i * 10, b"k%d" % i, T0 + i) for i in range(40)
]


def as_kept(topic_format: str) -> list[Sent]:
    """The first format had no timestamps."""
    if topic_format == "0.9.0":
        return [record._replace(timestamp=-1) for record in RECORDS]
    return RECORDS


def without_times(records: list[Sent]) -> list[Sent]:
    return [record._replace(timestamp=0) for record in records]


@pytest.mark.parametrize("topic_format", FORMATS)
@pytest.mark.parametrize("name", able())
def test_all_write_to_a_topic_in_an_old_format(
    name: str, topic_format: str, old_clients: Clients
) -> None:
    topic = make_topic(old_clients.bootstrap, configs={"message.format.version": topic_format})
    old_clients[name].produce(topic, RECORDS, codec="gzip")
    read = old_clients["java-3.9"].consume(topic, partition=0, offset=0, count=len(RECORDS))
    assert read == numbered(as_kept(topic_format))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("topic_format", FORMATS)
def test_all_read_a_topic_in_an_old_format(
    topic_format: str, codec: str, old_clients: Clients
) -> None:
    topic = make_topic(old_clients.bootstrap, configs={"message.format.version": topic_format})
    old_clients["java-2.0"].produce(topic, RECORDS, codec=codec)
    unable = CANNOT_READ.get((topic_format, codec), ())
    for name in [name for name in able(CONSUME) if name not in unable]:
        read = old_clients[name].consume(topic, partition=0, offset=0, count=len(RECORDS))
        # Where there is no timestamp, each client has its own word for it.
        seen = without_times([each.record for each in read])
        assert seen == without_times(RECORDS), name


@pytest.mark.parametrize("codec", CODECS)
def test_the_oldest_reads_the_newest_format(codec: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    headers = (("dropped", b"on the way"),)
    clients[READER].produce(
        topic, [each._replace(headers=headers) for each in RECORDS], codec=codec
    )
    read = clients[OLDEST].consume(topic, partition=0, offset=0, count=len(RECORDS))
    assert read == numbered(RECORDS)
    half = clients[OLDEST].consume(topic, partition=0, offset=20, count=20)
    assert half == numbered(RECORDS[20:], first=20)
