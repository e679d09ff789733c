"""`ottla transactions` on a real Kafka, beside its own tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.integration.group_stories import Commands
from tests.integration.transaction_stories import (
    LONG_AGO_MS,
    STORIES,
    STRANGER,
    UNVERIFIED,
    begin,
    hang,
    producer,
)
from tests.kafka.peer import KafkaPeer, run_tool

_TOOL = "org.apache.kafka.tools.TransactionsCommand"


@pytest.fixture(scope="module")
def peer(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaPeer]:
    peer = KafkaPeer(classpath, tmp_path_factory.mktemp("transactions"), UNVERIFIED)
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


def rows(classpath: str, peer: KafkaPeer, *arguments: str) -> list[dict[str, str]]:
    where = ("--bootstrap-server", peer.bootstrap)
    head, *found = run_tool(classpath, _TOOL, *where, *arguments).lines
    return [dict(zip(head.split(), line.split(), strict=False)) for line in found]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_it_happens_so(
    peer: KafkaPeer, commands: Commands, story: Callable[[Commands, str], None]
) -> None:
    story(commands, topic(peer, commands, story.__name__))


def test_kafkas_own_tool_finds_and_lists_the_same(
    peer: KafkaPeer, commands: Commands, classpath: str
) -> None:
    name = topic(peer, commands, "compared")
    hang(peer.bootstrap, name)
    begin(producer(peer.bootstrap, name), name, 1)
    (theirs,) = rows(classpath, peer, "find-hanging", "--topic", name)
    (ours,) = commands.run("transactions", "find-hanging", "--broker", "0").stdout.splitlines()[1:]
    expected = [name, "0", str(STRANGER), "0"]
    assert [theirs[key] for key in ("Topic", "Partition", "ProducerId", "ProducerEpoch")] == (
        expected
    )
    assert (theirs["StartOffset"], theirs["LastTimestamp"]) == ("0", str(LONG_AGO_MS))
    assert ours.split()[:5] == [*expected, "0"]
    listed = {each["transactional_id"]: each for each in commands.told("transactions", "list")}
    for row in rows(classpath, peer, "list"):
        told = listed[row["TransactionalId"]]
        assert [row["ProducerId"], row["TransactionState"]] == [
            str(told["producer_id"]), told["state"],
        ]  # fmt: skip
