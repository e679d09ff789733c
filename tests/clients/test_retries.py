"""What idempotent producers send again after a loss is there once, and in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from ottla.protocol.errors import ErrorCode
from tests.clients.client import Sent
from tests.clients.conftest import Clients, make_topic
from tests.clients.losing_proxy import LosingProxy, Loss
from tests.clients.roster import READER
from tests.clients.test_records import numbered
from tests.differential.case import DEFAULT, SETTINGS
from tests.kafka.peer import free_ports
from tests.targets.target import TARGETS, started

# franz-go waits five seconds before it tries again; the others retry as one of these does.
RETRYING = ("confluent-kafka", "kafka-python", "java-4.3")
RECORDS = [Sent(b"value %d" % i, b"key", 1_600_000_000_000 + i) for i in range(50)]


class Lossy(NamedTuple):
    clients: Clients
    proxy: LosingProxy


@pytest.fixture(scope="module", params=TARGETS)
def lossy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lossy]:
    """Clients that reach their broker by the proxy alone: it is the advertised address."""
    folder, proxy = tmp_path_factory.mktemp("lossy"), LosingProxy()
    (proxy.broker_port,) = free_ports(1)
    listeners = {
        "listeners": f"PLAINTEXT://127.0.0.1:{proxy.broker_port}",
        "advertised.listeners": f"PLAINTEXT://{proxy.address}",
    }
    try:
        with started(request.param, folder, {**SETTINGS[DEFAULT], **listeners}):
            clients = Clients(proxy.address, folder)
            try:
                yield Lossy(clients, proxy)
            finally:
                clients.close()
    finally:
        proxy.close()


@pytest.mark.parametrize("name", RETRYING)
def test_what_was_written_before_its_answer_got_lost_is_not_written_twice(
    name: str, lossy: Lossy
) -> None:
    topic = make_topic(lossy.proxy.address)
    lossy.proxy.lose(Loss.ANSWER, Loss.ANSWER)
    offsets = lossy.clients[name].produce(topic, RECORDS, idempotent=True)
    assert lossy.proxy.lost == 2
    assert offsets == list(range(len(RECORDS)))
    assert lossy.clients[READER].offsets(topic, partition=0) == (0, len(RECORDS))
    read = lossy.clients[READER].consume(topic, partition=0, offset=0, count=len(RECORDS))
    assert read == numbered(RECORDS)


def test_what_follows_a_gap_is_refused_until_the_gap_is_filled(lossy: Lossy) -> None:
    topic = make_topic(lossy.proxy.address)
    # Too large for two to share a batch, and this client has five batches under way.
    records = [record._replace(value=b"x" * 10_000) for record in RECORDS]
    # A broker that does not know a producer takes any sequence: let it know this one first.
    lossy.proxy.lose(None, Loss.REQUEST)
    offsets = lossy.clients["java-4.3"].produce(topic, records, idempotent=True)
    assert lossy.proxy.lost == 1
    assert ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER in lossy.proxy.produce_errors
    assert offsets == list(range(len(records)))
    read = lossy.clients[READER].consume(topic, partition=0, offset=0, count=len(records))
    assert read == numbered(records)
