"""The commands on a real Kafka: what they change is there, and what it refuses is told."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest
from typer.testing import CliRunner, Result

from ottla.admin import log_dirs
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.topics import NewTopic, create
from ottla.cli.app import app
from tests.kafka.peer import KafkaPeer

T = TypeVar("T")
_PATIENCE_S = 60


@pytest.fixture(scope="module")
def peer(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaPeer]:
    folder = tmp_path_factory.mktemp("admin")
    two_disks = {"log.dirs": f"{folder}/first,{folder}/second"}
    peer = KafkaPeer(classpath, folder, two_disks)
    try:
        peer.start()
        yield peer
    finally:
        peer.close()


@pytest.fixture
def topic(peer: KafkaPeer, request: pytest.FixtureRequest) -> str:
    """A topic for this test alone, with two partitions."""
    name: str = request.node.originalname.removeprefix("test_")
    on(peer, lambda cluster: create(cluster, [NewTopic(name, partitions=2)]))
    peer.wait_for([name])
    return name


def on(peer: KafkaPeer, work: Callable[[Cluster], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with Cluster(peer.bootstrap) as cluster:
            return await work(cluster)

    return asyncio.run(connected())


def run(peer: KafkaPeer, *arguments: str, stdin: bytes = b"") -> Result:
    environment = {"OTTLA_BOOTSTRAP": peer.bootstrap}
    return CliRunner().invoke(app, arguments, input=stdin, env=environment, prog_name="ottla")


def done(peer: KafkaPeer, *arguments: str, stdin: bytes = b"") -> str:
    result = run(peer, *arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def told(peer: KafkaPeer, *arguments: str) -> Any:
    return json.loads(done(peer, *arguments, "--json"))


def test_a_topics_life(peer: KafkaPeer) -> None:
    done(peer, "topics", "create", "life", "-p", "2", "-r", "1", "-c", "retention.ms=5000")
    peer.wait_for(["life"])
    (described,) = told(peer, "topics", "describe", "life")
    assert described["configs"] == {"retention.ms": "5000"}
    assert [each["leader"] for each in described["partitions"]] == [0, 0]
    done(peer, "topics", "expand", "life", "-p", "3", "--assignment", "0")
    assert "life" in [each["topic"] for each in told(peer, "topics", "list")]
    assert len(told(peer, "topics", "describe", "life")[0]["partitions"]) == 3
    done(peer, "topics", "delete", "life")
    assert run(peer, "topics", "describe", "life").exit_code == 1


def test_what_is_only_validated_is_not_made(peer: KafkaPeer) -> None:
    done(peer, "topics", "create", "maybe", "--assignment", "0,0", "--validate-only")
    assert "maybe" not in [each["topic"] for each in told(peer, "topics", "list")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-r", "3"], "INVALID_REPLICATION_FACTOR"),
        (["-c", "retention.ms=soon"], "Invalid value soon for configuration retention.ms"),
        (["--assignment", "0:0"], "INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_a_refused_topic_is_told_in_the_brokers_words(
    peer: KafkaPeer, arguments: list[str], words: str
) -> None:
    result = run(peer, "topics", "create", "refused", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr


def test_configs_are_set_appended_and_deleted(peer: KafkaPeer, topic: str) -> None:
    def policy() -> tuple[str, str]:
        (found,) = told(peer, "configs", "describe", "-t", topic, "cleanup.policy")
        (entry,) = found["configs"]
        return entry["value"], entry["source"]

    done(peer, "configs", "set", "-t", topic, "cleanup.policy+=compact", "retention.ms=9000")
    assert policy() == ("delete,compact", "DYNAMIC_TOPIC_CONFIG")
    done(peer, "configs", "set", "-t", topic, "cleanup.policy-=delete")
    assert policy() == ("compact", "DYNAMIC_TOPIC_CONFIG")
    done(peer, "configs", "delete", "-t", topic, "cleanup.policy")
    assert policy() == ("delete", "DEFAULT_CONFIG")
    refused = run(peer, "configs", "set", "-t", topic, "retention.ms=soon")
    assert refused.exit_code == 1
    assert "Invalid value soon for configuration retention.ms" in refused.stderr


def test_brokers_and_their_loggers_have_configs(peer: KafkaPeer) -> None:
    (broker,) = told(peer, "configs", "describe", "--broker", "0", "log.retention.ms")
    assert [each["source"] for each in broker["configs"]] == ["STATIC_BROKER_CONFIG"]
    done(peer, "configs", "set", "--broker-logger", "0", "kafka.log.LogCleaner=DEBUG")
    (logger,) = told(peer, "configs", "describe", "--broker-logger", "0", "kafka.log.LogCleaner")
    assert [each["value"] for each in logger["configs"]] == ["DEBUG"]


def test_offsets_are_found_and_records_deleted(peer: KafkaPeer, topic: str) -> None:
    done(peer, "produce", topic, "-p", "0", stdin=b"a\nb\nc\n")
    (_, last) = told(peer, "offsets", "get", f"{topic}:1", f"{topic}:0")
    assert (last["earliest"], last["latest"]) == (0, 3)
    (newest,) = told(peer, "offsets", "get", f"{topic}:0", "--at", "max-timestamp")
    assert newest["timestamp"] is not None
    (late,) = told(peer, "offsets", "get", f"{topic}:0", "--at", str(newest["timestamp"] + 1))
    assert (late["offset"], late["timestamp"]) == (None, None)
    (deleted,) = told(peer, "offsets", "delete-records", f"{topic}:0=2")
    assert deleted["low_watermark"] == 2
    too_far = run(peer, "offsets", "delete-records", f"{topic}:0=9", f"{topic}:1=latest")
    assert too_far.exit_code == 1
    assert "OFFSET_OUT_OF_RANGE" in too_far.stderr
    assert f"{topic}-1 begins at offset 0" in too_far.stdout


def test_a_replica_moves_to_the_other_disk(peer: KafkaPeer, topic: str) -> None:
    partition = TopicPartition(topic, 0)

    async def places(cluster: Cluster) -> dict[str, bool]:
        found = await log_dirs.describe(cluster, partitions=[partition])
        return {each.path: each.replicas[0].is_future for each in found if each.replicas}

    paths = [each["path"] for each in told(peer, "log-dirs", "describe")]
    (here,) = on(peer, places)
    (there,) = [path for path in paths if path != here]
    done(peer, "log-dirs", "move", f"{topic}:0", "--broker", "0", "--to", there)

    async def has_moved(cluster: Cluster) -> bool:
        for attempt in range(100):
            if await places(cluster) == {there: False}:
                return True
            await cluster.back_off(min(attempt, 2))
        return False

    assert on(peer, has_moved)
    nowhere = run(peer, "log-dirs", "move", f"{topic}:0", "--broker", "0", "--to", "/nowhere")
    assert nowhere.exit_code == 1
    assert there in nowhere.stderr


def test_what_is_produced_is_consumed(peer: KafkaPeer, topic: str) -> None:
    lines = b"a:1\nb:\xff\nc:-\n"
    options = ["-k", ":", "--null", "-", "-H", "from=tests", "--compression", "zstd"]
    done(peer, "produce", topic, "-p", "1", *options, stdin=lines)
    records = [
        json.loads(line)
        for line in done(
            peer, "consume", topic, "--from-beginning", "--exit", "--json"
        ).splitlines()
    ]
    assert [(each["offset"], each["key"], each["value"]) for each in records] == [
        (0, "a", "1"),
        (1, "b", {"base64": "/w=="}),
        (2, "c", None),
    ]
    assert records[0]["headers"] == [{"name": "from", "value": "tests"}]


def test_consuming_begins_and_ends_where_it_is_told(peer: KafkaPeer, topic: str) -> None:
    lines = b"".join(b"%d\n" % number for number in range(9))
    done(peer, "produce", topic, "-p", "0", "--acks", "1", stdin=lines)
    consume = ["consume", topic, "-p", "0", "-f", "{offset}={value}"]
    assert done(peer, *consume, "-o", "7", "--exit").split() == ["7=7", "8=8"]
    assert done(peer, *consume, "-o", "-1", "--exit").split() == ["8=8"]
    assert done(peer, *consume, "--timestamp", "0", "-n", "2").split() == ["0=0", "1=1"]
    assert done(peer, "consume", topic, "--exit") == ""
    beyond = run(peer, *consume, "-o", "99", "--exit")
    assert beyond.exit_code == 1
    assert "ffset out of range" in beyond.stderr


def test_a_group_goes_on_where_it_was(peer: KafkaPeer, topic: str) -> None:
    group = ["consume", topic, "-g", "readers", "--from-beginning"]
    done(peer, "produce", topic, "-p", "0", stdin=b"a\nb\n")
    assert done(peer, *group, "-n", "2").split() == ["a", "b"]
    done(peer, "produce", topic, "-p", "1", stdin=b"c\n")
    assert done(peer, *group, "-n", "1").split() == ["c"]


def test_a_mistyped_topic_is_not_made_by_producing_to_it(peer: KafkaPeer, topic: str) -> None:
    for command in ("produce", "consume"):
        result = run(peer, command, f"{topic}x", stdin=b"a\n")
        assert result.exit_code == 1
        assert f"Did you mean {topic}?" in result.stderr
    no_key = run(peer, "produce", topic, "-k", ":", stdin=b"a:1\nb\n")
    assert no_key.exit_code == 1
    assert "1 record delivered" in no_key.stderr
    assert "line 2: there is no key separator ':'" in no_key.stderr


def start(peer: KafkaPeer, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "ottla", *arguments, "-b", peer.bootstrap],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_ctrl_c_ends_both_without_a_stack_trace(peer: KafkaPeer, topic: str) -> None:
    with start(peer, "consume", topic, "--from-beginning") as consumer:
        with start(peer, "produce", topic) as producer:
            assert producer.stdin is not None
            producer.stdin.write(b"a\n")
            producer.stdin.flush()
            assert consumer.stdout is not None
            assert consumer.stdout.readline() == b"a\n"
            producer.send_signal(signal.SIGINT)
            assert producer.wait(_PATIENCE_S) == 130
            assert producer.stderr is not None
            assert producer.stderr.read() == f"1 record delivered to {topic}.\n".encode()
        consumer.send_signal(signal.SIGINT)
        assert consumer.wait(_PATIENCE_S) == 0
        assert consumer.stderr is not None
        assert consumer.stderr.read() == b""


def test_a_broker_that_goes_away_is_told_and_ctrl_c_still_ends_it(
    peer: KafkaPeer, topic: str
) -> None:
    done(peer, "produce", topic, stdin=b"a\n")
    with start(peer, "consume", topic, "--from-beginning") as consumer:
        assert consumer.stdout is not None
        assert consumer.stdout.readline() == b"a\n"
        peer.kill()
        try:
            assert consumer.stderr is not None
            assert b"brokers are down. Trying again" in consumer.stderr.readline()
            consumer.send_signal(signal.SIGINT)
            assert consumer.wait(_PATIENCE_S) == 0
            assert b"Traceback" not in consumer.stderr.read()
        finally:
            peer.start(topics=[topic])


def test_quotas_are_set_listed_and_removed(peer: KafkaPeer) -> None:
    done(peer, "quotas", "set", "producer_byte_rate=5e6", "request_percentage=50", "-u", "alice")
    done(peer, "quotas", "set", "producer_byte_rate=7e6", "--default-user", "-c", "reader")
    done(peer, "quotas", "set", "connection_creation_rate=9", "--ip", "10.9.8.7")
    found = [(each["user"], each["ip"], each["value"]) for each in told(peer, "quotas", "list")]
    assert found == [
        ("<default>", None, 7e6),
        ("alice", None, 5e6),
        ("alice", None, 50.0),
        (None, "10.9.8.7", 9.0),
    ]
    refused = run(peer, "quotas", "set", "producer_byte_rate=0.5", "--user", "alice")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "INVALID_REQUEST" in refused.stderr
    done(peer, "quotas", "remove", "--user", "alice")
    done(peer, "quotas", "remove", "--default-user", "--client-id", "reader")
    done(peer, "quotas", "remove", "--ip", "10.9.8.7")
    assert told(peer, "quotas", "list") == []
