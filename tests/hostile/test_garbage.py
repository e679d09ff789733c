"""Malformed frames of every kind against a live broker, with a good client beside them.

OTTLA_SEED repeats one seed; the soak profile runs many, with more of each.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ottla.handlers import HANDLERS
from tests.hostile.assaults import attack, decompression_bomb, send_frame
from tests.hostile.batches import BOMB_BYTES
from tests.hostile.client import Client, Gone, create_topics
from tests.hostile.neighbour import Neighbour
from tests.hostile.process import BrokerProcess, until
from tests.hostile.requests import BETWEEN_BROKERS, TOPICS, any_frame, is_fair, spoil
from tests.simulation.seeds import given_seeds, repetitions

_CONFIGS: dict[str, dict[str, str]] = {
    "fuzz": {},
    "fuzz-compacted": {"cleanup.policy": "compact"},
    "fuzz-zipped": {"compression.type": "gzip"},
    "fuzz-stamped": {"message.timestamp.type": "LogAppendTime"},
}
_WARM_UP = repetitions(300, soak=2_000)
_ATTACKS = repetitions(700, soak=20_000)
_MOST_GROWTH_MB = 30


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path / "broker") as process:
        with Client(process.address) as client:
            for topic in TOPICS:
                create_topics(client, [topic], configs=_CONFIGS[topic])
        yield process


@given_seeds(1, soak=5)
def test_garbage_is_refused_and_nobody_else_notices(
    broker: BrokerProcess, seed: int, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(seed)
    with Neighbour(broker.address) as neighbour:
        for _ in range(_WARM_UP):
            attack(chance, broker.address)
        before_mb = broker.memory_mb()
        for _ in range(_ATTACKS):
            attack(chance, broker.address)
        grown_mb = broker.memory_mb() - before_mb
    broker.expect_no_bug()
    assert grown_mb < _MOST_GROWTH_MB
    assert 0 < len(broker.reports()) <= _WARM_UP + _ATTACKS
    until(lambda: not broker.connections(), what="every connection is closed")
    record_property("memory_mb", (before_mb, grown_mb))
    record_property("neighbour", (neighbour.rounds, neighbour.slowest_s))


def test_an_operator_reads_one_line_for_each_connection_that_garbage_closed(
    broker: BrokerProcess,
) -> None:
    expected = []
    for noise in (b"\xff\xff\xff\xff", b"\0\0\0\3abc", b"GET / HTTP/1.1\r\n\r\n") * 5:
        with Client(broker.address) as client:
            port = client.socket.getsockname()[1]
            client.send_bytes(noise)
            with pytest.raises(Gone):
                client.receive_frame()
            expected.append(f"ottla.network.connection 127.0.0.1:{port} sent a bad request: ")
    found = broker.reports()
    assert len(found) == len(expected), found
    for line, beginning in zip(found, expected, strict=True):
        assert line.startswith(beginning)
        assert line.endswith("; closing")


@given_seeds(1, soak=3)
def test_every_version_of_every_api_survives_spoilt_requests(
    broker: BrokerProcess, seed: int
) -> None:
    """Those between brokers, too, which let anybody do anything: so without a neighbour."""
    chance = random.Random(seed)
    for key, (oldest, newest) in HANDLERS.items():
        for version in range(oldest, newest + 1):
            for _ in range(repetitions(3, soak=60)):
                frame = any_frame(chance, key=key, version=version)
                if key not in BETWEEN_BROKERS:
                    send_frame(broker.address, frame)
                frame = spoil(chance, frame)
                if is_fair(frame):
                    send_frame(broker.address, frame)
    broker.expect_no_bug()


def test_decompression_bombs_take_memory_one_after_the_other_and_keep_none(
    broker: BrokerProcess,
) -> None:
    chance, most_mb = random.Random(0), 0.0
    with Neighbour(broker.address):
        before_mb = broker.memory_mb()
        for _ in range(repetitions(5, soak=50)):
            decompression_bomb(chance, broker.address)
            most_mb = max(most_mb, broker.memory_mb())
    assert most_mb - before_mb < 8 * BOMB_BYTES / 1024 / 1024  # two at once, with copies
    until(lambda: broker.memory_mb() - before_mb < 64, what="the memory is given back")
    broker.expect_no_bug()
