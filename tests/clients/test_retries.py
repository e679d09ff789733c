"""What idempotent producers send again after a loss is there once, and in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from ottla.protocol.errors import ErrorCode
from tests.clients.client import IDEMPOTENCE, PIPELINING, Sent
from tests.clients.conftest import Clients, make_topic
from tests.clients.losing_proxy import LosingProxy, Loss
from tests.clients.roster import READER, able
from tests.clients.test_records import numbered
from tests.differential.case import DEFAULT, SETTINGS
from tests.kafka.peer import free_ports
from tests.targets.target import TARGETS, started

RECORDS = [Sent(b"value %d" % i, b"key", 1_600_000_000_000 + i) for i in range(50)]
# Two are more than a topic takes in one batch, so each has its own.
LARGE = [record._replace(value=b"%d" % i * 600_000) for i, record in enumerate(RECORDS[:10])]


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


@pytest.mark.parametrize("name", able(IDEMPOTENCE))
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


@pytest.mark.parametrize("name", able(IDEMPOTENCE, PIPELINING))
def test_what_follows_a_gap_is_refused_until_the_gap_is_filled(name: str, lossy: Lossy) -> None:
    topic = make_topic(lossy.proxy.address)
    # A broker that does not know a producer takes any sequence: let it know this one first.
    lossy.proxy.lose(None, Loss.REQUEST)
    offsets = lossy.clients[name].produce(topic, LARGE, idempotent=True)
    assert lossy.proxy.lost == 1
    assert ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER in lossy.proxy.produce_errors
    assert offsets == list(range(len(LARGE)))
    read = lossy.clients[READER].consume(topic, partition=0, offset=0, count=len(LARGE))
    assert read == numbered(LARGE)
