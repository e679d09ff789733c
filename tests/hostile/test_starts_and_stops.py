"""A stop answers who waits; a start may be interrupted, and may find thousands of partitions."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

from ottla.protocol.apis.fetch import FetchResponse
from ottla.protocol.errors import ErrorCode
from tests.hostile.client import (
    FETCH_VERSION,
    Client,
    batch_of,
    create_topics,
    fetch_request,
    fetched,
    is_led,
    produce,
    read_all,
)
from tests.hostile.process import BrokerProcess, until
from tests.simulation.seeds import repetitions


def test_a_stop_answers_those_who_wait(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path / "broker") as broker, Client(broker.address) as client:
        create_topics(client, ["quiet"])
        client.send(fetch_request("quiet", 0, max_wait_ms=1_000_000), FETCH_VERSION)
        until(lambda: broker.parked() == 1, what="the fetch waits")
        broker.signal(signal.SIGTERM)
        assert fetched(client.receive(FetchResponse)) == []
        assert broker.wait() == 0
        assert "Traceback" not in broker.log()


def test_a_start_that_is_killed_while_it_recovers_harms_nothing(tmp_path: Path) -> None:
    sent: list[tuple[int, bytes | None]] = [(i, b"%d " % i * 5_000) for i in range(400)]
    options = {"log.segment.bytes": "1000000"}
    with BrokerProcess(tmp_path / "broker", settings=options) as broker:
        with Client(broker.address) as client:
            create_topics(client, ["t"])
            for _, value in sent:
                assert not produce(client, "t", batch_of(value or b"")).error_code
        for wait_s in (i * 0.05 for i in range(repetitions(6, soak=40))):
            broker.kill()
            broker.launch()
            begins = time.perf_counter()
            while time.perf_counter() < begins + wait_s and broker.is_alive:
                pass  # somewhere in its start: that moment is all there is to wait for
        broker.kill()
        broker.start()
        with Client(broker.address) as client:
            until(lambda: is_led(client, "t"), what="it leads again")
            assert read_all(client, "t") == sent
        broker.expect_no_bug()


def test_two_thousand_partitions_are_made_at_once_and_found_again(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    count = repetitions(500, soak=2_000)
    with BrokerProcess(tmp_path / "broker") as broker:
        begins = time.perf_counter()
        with Client(broker.address) as client:
            assert create_topics(client, ["wide"], partitions=count) == [ErrorCode.NONE]
            created_s = time.perf_counter() - begins
            for partition in (0, count - 1):
                value = b"%d" % partition
                assert not produce(client, "wide", batch_of(value), partition=partition).error_code
        memory_mb = broker.memory_mb()
        begins = time.perf_counter()
        assert broker.terminate() == 0
        stopped_s = time.perf_counter() - begins
        begins = time.perf_counter()
        broker.start()
        started_s = time.perf_counter() - begins
        with Client(broker.address) as client:
            for partition in (0, count - 1):
                _expect_led(client, partition)
                found = read_all(client, "wide", partition=partition)
                assert found == [(0, b"%d" % partition)]
        broker.expect_no_bug()
        record_property("created_s", created_s)
        record_property("stopped_s", stopped_s)
        record_property("started_s", started_s)
        record_property("memory_mb", (memory_mb, broker.memory_mb()))


def _expect_led(client: Client, partition: int) -> None:
    until(lambda: is_led(client, "wide", partition=partition), what="it leads again")
