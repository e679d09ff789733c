"""Where a partition begins and ends, and what was written since a time."""

from __future__ import annotations

import pytest

from tests.clients.client import CONSUME, DELETE_RECORDS, Sent
from tests.clients.conftest import Clients, make_topic
from tests.clients.roster import able

T0 = 1_600_000_000_000


def ten_records(name: str, clients: Clients) -> str:
    """A topic with one record a second."""
    topic = make_topic(clients.bootstrap)
    clients[name].produce(topic, [Sent(b"%d" % i, b"k", T0 + 1000 * i) for i in range(10)])
    return topic


@pytest.mark.parametrize("name", able())
def test_an_empty_partition_begins_and_ends_at_zero(name: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    assert clients[name].offsets(topic, partition=0) == (0, 0)


@pytest.mark.parametrize("name", able())
def test_the_end_is_one_past_the_last(name: str, clients: Clients) -> None:
    assert clients[name].offsets(ten_records(name, clients), partition=0) == (0, 10)


@pytest.mark.parametrize("name", able())
def test_a_time_leads_to_the_first_record_since(name: str, clients: Clients) -> None:
    topic = ten_records(name, clients)
    client = clients[name]
    times = (T0 - 1, T0, T0 + 1, T0 + 4000, T0 + 9000, T0 + 9001)
    found = [client.offset_at(topic, partition=0, timestamp=time) for time in times]
    assert found == [0, 0, 1, 4, 9, None]


@pytest.mark.parametrize("name", able(CONSUME))
def test_reading_since_a_time(name: str, clients: Clients) -> None:
    topic = ten_records(name, clients)
    client = clients[name]
    offset = client.offset_at(topic, partition=0, timestamp=T0 + 6500)
    assert offset is not None
    read = client.consume(topic, partition=0, offset=offset, count=3)
    assert [seen.record.value for seen in read] == [b"7", b"8", b"9"]


@pytest.mark.parametrize("name", able(DELETE_RECORDS))
def test_deleted_records_move_the_beginning(name: str, clients: Clients) -> None:
    topic = ten_records(name, clients)
    client = clients[name]
    client.delete_records(topic, partition=0, offset=4)
    assert client.offsets(topic, partition=0) == (4, 10)
