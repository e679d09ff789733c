"""Readers that do not read, and connections by the thousand."""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ottla.protocol.apis.fetch import FetchResponse
from ottla.protocol.errors import ErrorCode
from tests.hostile.client import (
    FETCH_VERSION,
    Client,
    batch_of,
    create_topics,
    fetch_request,
    fetched,
    produce,
    read_all,
)
from tests.hostile.neighbour import Neighbour
from tests.hostile.process import BrokerProcess, until
from tests.simulation.seeds import repetitions

_LARGE = 500_000


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path / "broker") as process:
        yield process


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[BrokerProcess]:
    """It may have as few files as many shells allow, and has to ask for more by itself."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))  # for our own ends
    with BrokerProcess(tmp_path / "broker", files=256) as process:
        yield process
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def value_of(number: int) -> bytes:
    return b"%06d " % number * (_LARGE // 7)


def test_a_reader_that_never_reads_is_paused_and_then_gets_everything(
    broker: BrokerProcess,
) -> None:
    count, fetches = 20, repetitions(400, soak=4_000)
    with Client(broker.address) as deaf, Neighbour(broker.address) as neighbour:
        assert create_topics(deaf, ["large"]) == [ErrorCode.NONE]
        for number in range(count):
            assert not produce(deaf, "large", batch_of(value_of(number))).error_code
        before_mb = broker.memory_mb()
        for number in range(fetches):
            deaf.send(fetch_request("large", number % count, max_bytes=1000), FETCH_VERSION)
        rounds = neighbour.rounds
        until(lambda: neighbour.rounds > rounds + 100, what="the neighbour is served on")
        assert broker.memory_mb() - before_mb < 20, "its answers lie in memory"
        for number in range(fetches):
            (found,) = fetched(deaf.receive(FetchResponse))
            assert found == (number % count, value_of(number % count))
    broker.expect_no_bug()


def test_idle_and_busy_connections_are_all_served(crowded: BrokerProcess) -> None:
    broker = crowded
    idle, busy, each = 1_000, 200, repetitions(10, soak=200)
    with ExitStack() as stack:
        first = stack.enter_context(Client(broker.address))
        assert create_topics(first, ["shared"], partitions=4) == [ErrorCode.NONE]
        before_mb = broker.memory_mb()
        quiet = [stack.enter_context(Client(broker.address)) for _ in range(idle)]
        loud = [stack.enter_context(Client(broker.address)) for _ in range(busy)]
        until(lambda: len(broker.connections()) > idle + busy, what="all are accepted")
        acknowledged: dict[tuple[int, int], bytes] = {}
        threads = [
            threading.Thread(target=_work, args=(loud[i::8], i, each, acknowledged))
            for i in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(acknowledged) == busy * each
        found = {
            (partition, offset): value
            for partition in range(4)
            for offset, value in read_all(quiet[partition], "shared", partition=partition)
        }
        assert found == acknowledged
        assert broker.memory_mb() - before_mb < 100
    until(lambda: not broker.connections(), what="all are forgotten")
    broker.expect_no_bug()


def _work(
    clients: list[Client], first: int, each: int, acknowledged: dict[tuple[int, int], bytes]
) -> None:
    for turn in range(each):
        for number, client in enumerate(clients):
            partition = (first + number) % 4
            value = b"%d of %d, turn %d" % (number, first, turn)
            answer = produce(client, "shared", batch_of(value), partition=partition, acks=-1)
            assert not answer.error_code
            acknowledged[partition, answer.base_offset] = value


def test_nothing_is_left_of_those_who_come_park_a_fetch_and_go(broker: BrokerProcess) -> None:
    cycles, at_once = repetitions(2_000, soak=20_000), 50
    with Client(broker.address) as client:
        create_topics(client, ["quiet", "large"])
        produce(client, "large", batch_of(value_of(0)))
        produce(client, "quiet", batch_of(b"so that its file is open"))
    until(lambda: not broker.connections(), what="the first is gone")
    before, before_mb = broker.descriptors(), broker.memory_mb()
    for _ in range(cycles // at_once):
        with ExitStack() as stack:
            for number in range(at_once):
                client = stack.enter_context(Client(broker.address))
                topic = "large" if number % 2 else "quiet"  # a piece of a file, or nothing yet
                request = fetch_request(topic, 1 - number % 2, max_wait_ms=1_000_000)
                client.send(request, FETCH_VERSION)
            until(lambda: broker.parked() >= at_once // 2, what="the fetches are parked")
    until(lambda: not broker.connections(), what="every connection is gone")
    until(lambda: not broker.parked(), what="nothing is parked")
    until(lambda: len(broker.descriptors()) <= len(before), what="no descriptor is left open")
    assert set(broker.descriptors()) <= set(before)
    assert broker.memory_mb() - before_mb < 30
    broker.expect_no_bug()
