"""Groups, and records in every form, on a real Kafka; beside its own tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.group_stories import (
    READ,
    STORIES,
    TOTAL,
    Commands,
    records_in_an_avro_file,
    verified_transactions,
)
from tests.kafka.peer import KafkaPeer, run_tool

_TOOLS = "org.apache.kafka.tools"


@pytest.fixture(scope="module")
def peer(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaPeer]:
    peer = KafkaPeer(classpath, tmp_path_factory.mktemp("groups"), {})
    try:
        peer.start()
        yield peer
    finally:
        peer.close()


@pytest.fixture
def commands(peer: KafkaPeer) -> Commands:
    return Commands(peer.bootstrap)


def topic(peer: KafkaPeer, commands: Commands, name: str) -> str:
    commands.done("topics", "create", name, "-p", "2")
    peer.wait_for([name])
    return name


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_it_happens_so(
    peer: KafkaPeer, commands: Commands, story: Callable[[Commands, str], None]
) -> None:
    story(commands, topic(peer, commands, story.__name__))


def test_records_go_into_an_avro_file_and_back(
    peer: KafkaPeer, commands: Commands, tmp_path: Path
) -> None:
    pytest.importorskip("fastavro")
    records_in_an_avro_file(commands, topic(peer, commands, "filed"), tmp_path)


def test_a_workload_of_transactions_is_verified(commands: Commands, tmp_path: Path) -> None:
    verified_transactions(commands, tmp_path)


def test_a_group_is_described_as_kafkas_own_tool_does(
    peer: KafkaPeer, commands: Commands, classpath: str
) -> None:
    name = topic(peer, commands, "described")
    commands.done("produce", name, "-p", "0", stdin=b"a\nb\nc\n")
    commands.done("consume", name, "-g", name, "--from-beginning", "-n", "2")
    main = f"{_TOOLS}.consumer.group.ConsumerGroupCommand"
    tool = run_tool(
        classpath, main, "--bootstrap-server", peer.bootstrap, "--describe", "--group", name
    )
    rows = [line.split()[:6] for line in tool.lines if line.startswith(name)]
    (ours,) = commands.told("groups", "describe", name)
    assert rows == [
        [name, each["topic"], *(str(each[key]) for key in ("partition", "committed", "end", "lag"))]
        for each in ours["offsets"]
    ]


def shape(lines: list[str]) -> dict[str, list[str]]:
    """The keys of each kind of event, in order."""
    return {told["name"]: list(told) for told in map(json.loads, lines)}


def shape_of_reads(lines: list[str]) -> list[str]:
    reads = [told for told in map(json.loads, lines) if told["name"] == "records_consumed"]
    return list(reads[0]["partitions"][0])


def test_the_verifiable_clients_tell_what_kafkas_tell(
    peer: KafkaPeer, commands: Commands, classpath: str
) -> None:
    name = topic(peer, commands, "verified")
    place = ("--topic", name, "--bootstrap-server", peer.bootstrap, "--max-messages", "3")
    theirs = run_tool(classpath, f"{_TOOLS}.VerifiableProducer", *place)
    ours = commands.done("verify", "produce", name, "-n", "3")
    assert shape(theirs.lines) == shape(ours.splitlines())
    member = ("--group-id", "theirs", "--verbose")
    theirs = run_tool(classpath, f"{_TOOLS}.VerifiableConsumer", *place, *member)
    ours = commands.done("verify", "consume", name, "-g", "ours", "-n", "3", "--verbose")
    assert shape(theirs.lines) == shape(ours.splitlines())
    assert shape_of_reads(theirs.lines) == shape_of_reads(ours.splitlines())


def test_the_measuring_tools_print_the_same_lines(
    peer: KafkaPeer, commands: Commands, classpath: str
) -> None:
    name = topic(peer, commands, "measured")
    props = ("--producer-props", f"bootstrap.servers={peer.bootstrap}")
    sizes = ("--num-records", "500", "--record-size", "100", "--throughput", "-1")
    theirs = run_tool(classpath, f"{_TOOLS}.ProducerPerformance", "--topic", name, *sizes, *props)
    assert re.fullmatch(TOTAL, theirs.lines[-1])
    place = ("--topic", name, "--bootstrap-server", peer.bootstrap, "--messages", "500")
    header, row = run_tool(classpath, f"{_TOOLS}.ConsumerPerformance", *place).lines
    assert re.fullmatch(READ, row)
    assert commands.done("bench", "consume", name, "-n", "500").splitlines()[0] == header


def test_the_history_is_ottlas_alone(commands: Commands) -> None:
    assert "Apache Kafka keeps none." in commands.refused("groups", "history", "any")
