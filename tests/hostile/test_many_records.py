"""A kilobyte that holds a million records: whoever reads them all lets nobody else wait."""

from __future__ import annotations

import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.apis.produce import ProduceResponse
from ottla.protocol.records.batch import BatchHeader, seal_batch
from ottla.protocol.records.compression import Codec, compress
from tests.hostile.client import (
    PRODUCE_VERSION,
    T0,
    Client,
    batch_of,
    create_topics,
    produce,
    produce_request,
    produced,
)
from tests.hostile.process import BrokerProcess

COUNT = 1_000_000
LATE = T0 + 1_000_000
_RECORD = b"\x0e\0\0\0\x02k\x01\0"  # its key is k, it has no value
_LIST_OFFSETS_VERSION = 7


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path / "broker") as process:
        yield process


def many() -> bytes:
    """The header promises a late time, so that whoever looks for it reads every record."""
    codec = Codec.ZSTD
    header = BatchHeader(0, 0, -1, 2, 0, codec, COUNT - 1, T0, LATE, -1, -1, -1, COUNT)
    sealed = seal_batch(header, compress(codec, _RECORD * COUNT))
    assert len(sealed) < 5_000
    return sealed


def serves_others_meanwhile(broker: BrokerProcess, busy: Client, other: Client) -> bool:
    """And needs no memory for it."""
    before_mb = broker.memory_mb()
    for _ in range(5):
        assert not produce(other, "plain", batch_of(b"v")).error_code
        assert broker.memory_mb() < before_mb + 100
    return not select.select([busy.socket], [], [], 0)[0]


def test_the_keys_of_a_compacted_topic_are_checked_beside_the_others(
    broker: BrokerProcess,
) -> None:
    with Client(broker.address) as busy, Client(broker.address) as other:
        create_topics(busy, ["plain"])
        create_topics(busy, ["compacted"], configs={"cleanup.policy": "compact"})
        assert not produce(busy, "compacted", batch_of(b"v", key=b"k")).error_code
        busy.send(produce_request("compacted", many()), PRODUCE_VERSION)
        assert serves_others_meanwhile(broker, busy, other)
        answer = produced(busy.receive(ProduceResponse))
        assert (answer.error_code, answer.base_offset) == (0, 1)
    broker.expect_no_bug()


def test_a_time_is_looked_for_beside_the_others(broker: BrokerProcess) -> None:
    with Client(broker.address) as busy, Client(broker.address) as other:
        create_topics(busy, ["plain", "times"])
        assert not produce(busy, "times", many()).error_code
        partition = ListOffsetsPartition(partition_index=0, timestamp=LATE)
        topic = ListOffsetsTopic(name="times", partitions=[partition])
        request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=[topic])
        busy.send(request, _LIST_OFFSETS_VERSION)
        assert serves_others_meanwhile(broker, busy, other)
        found = busy.receive(ListOffsetsResponse).topics[0].partitions[0]
        assert (found.error_code, found.offset) == (0, -1)
    broker.expect_no_bug()
