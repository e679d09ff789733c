"""Whatever a client writes, with whatever codec, it and all others read back unchanged."""

from __future__ import annotations

import random

import pytest

from tests.clients.client import CONSUME, HEADERS, IDEMPOTENCE, Seen, Sent
from tests.clients.conftest import Clients, make_topic
from tests.clients.roster import READER, ROSTER, able

T0 = 1_600_000_000_000
BIG_BYTES = 900_000
LARGEST_BATCH = 1_000_000
OVERHEAD = 72  # of a batch with one record without key and headers, and so long a value
HEADERS_OF_ALL_KINDS = (("trace", b"\x00\xff"), ("trace", b"again"), ("empty", b""))
WITH_CODECS = [(entry.name, codec) for entry in ROSTER for codec in entry.codecs]


def of_all_kinds(name: str) -> list[Sent]:
    """Keys and values there, empty and null; headers, if the client has them."""
    headers = HEADERS_OF_ALL_KINDS if name in able(HEADERS) else ()
    return [
        Sent(b"plain", b"key", T0),
        Sent(None, b"tombstone", T0 + 1),
        Sent(b"no key", None, T0 + 2),
        Sent(b"", b"", T0 + 3),
        Sent("Größe, 大きさ".encode(), b"text", T0 + 4),
        Sent(b"headers", b"h", T0 + 5, headers),
        *(Sent(b"value %d" % i * 20, b"key %d" % (i % 7), T0 + 10 + i) for i in range(100)),
    ]


def reader_of(name: str) -> str:
    return name if name in able(CONSUME) else READER


def numbered(records: list[Sent], first: int = 0) -> list[Seen]:
    return [Seen(first + i, record) for i, record in enumerate(records)]


@pytest.mark.parametrize(("name", "codec"), WITH_CODECS)
def test_records_come_back_as_they_were_sent(name: str, codec: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    records = of_all_kinds(name)
    offsets = clients[name].produce(topic, records, codec=codec)
    assert offsets == list(range(len(records)))
    reader = clients[reader_of(name)]
    read = reader.consume(topic, partition=0, offset=0, count=len(records))
    assert read == numbered(records)


@pytest.mark.parametrize(("name", "codec"), WITH_CODECS)
def test_everyone_reads_what_one_wrote(name: str, codec: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    records = of_all_kinds(name)
    clients[name].produce(topic, records, codec=codec)
    bare = [record._replace(headers=()) for record in records]
    # One without zstd does not read it either.
    readers = [
        entry.name for entry in ROSTER if codec in entry.codecs and CONSUME in entry.abilities
    ]
    for reader in readers:
        read = clients[reader].consume(topic, partition=0, offset=0, count=len(records))
        expected = records if reader in able(HEADERS) else bare
        assert read == numbered(expected), reader


@pytest.mark.parametrize("name", able())
def test_big_records_pass(name: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    noise = random.Random(1)
    records = [Sent(noise.randbytes(BIG_BYTES), b"big %d" % i) for i in range(3)]
    clients[name].produce(topic, records)
    reader = clients[reader_of(name)]
    assert reader.consume(topic, partition=0, offset=0, count=3) == numbered(records)


@pytest.mark.parametrize("name", able(HEADERS))
def test_a_record_may_be_as_large_as_the_topic_allows(name: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap, configs={"max.message.bytes": str(LARGEST_BATCH)})
    value = b"x" * (LARGEST_BATCH - OVERHEAD)
    assert clients[name].produce(topic, [Sent(value)]) == [0]
    # Each client has its own words for it.
    with pytest.raises(Exception, match=r"(?i)too.?large|larger than|\b10\b"):
        clients[name].produce(topic, [Sent(value + b"x")])
    reader = clients[reader_of(name)]
    assert reader.offsets(topic, partition=0) == (0, 1)
    assert reader.consume(topic, partition=0, offset=0, count=1) == numbered([Sent(value)])


@pytest.mark.parametrize("name", able())
def test_each_partition_has_its_own_records(name: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap, partitions=12)
    records = [Sent(b"%d" % i, None, T0 + i, partition=i % 12) for i in range(60)]
    offsets = clients[name].produce(topic, records)
    assert offsets == [i // 12 for i in range(60)]
    reader = clients[reader_of(name)]
    for partition in range(12):
        own = [record for record in records if record.partition == partition]
        read = reader.consume(topic, partition=partition, offset=0, count=5)
        assert read == numbered(own)


@pytest.mark.parametrize("name", able(CONSUME))
def test_reading_begins_where_it_was_asked_to(name: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    records = of_all_kinds(name)
    clients[name].produce(topic, records, codec="gzip")  # one batch: it begins inside
    read = clients[name].consume(topic, partition=0, offset=50, count=len(records) - 50)
    assert read == numbered(records[50:], first=50)


@pytest.mark.parametrize("name", able(IDEMPOTENCE))
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_an_idempotent_producer_leaves_no_gaps(name: str, codec: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap, partitions=2)
    records = [Sent(b"x" * 1000, b"%d" % i, T0, partition=i % 2) for i in range(200)]
    offsets = clients[name].produce(topic, records, codec=codec, idempotent=True)
    assert offsets == [i // 2 for i in range(200)]
    assert clients[READER].consume(topic, partition=1, offset=0, count=100) == numbered(
        records[1::2]
    )


@pytest.mark.parametrize("name", able())
@pytest.mark.parametrize("acks", [0, 1])
def test_fewer_acks_write_the_same(name: str, acks: int, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    records = [Sent(b"v%d" % i, b"k", T0 + i) for i in range(10)]
    clients[name].produce(topic, records, acks=acks)
    read = clients[reader_of(name)].consume(topic, partition=0, offset=0, count=10)
    assert read == numbered(records)
