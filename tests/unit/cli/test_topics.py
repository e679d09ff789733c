"""`ottla topics` and its sisters over a scripted cluster: what people and programs are told."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ottla.protocol.apis.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from ottla.protocol.apis.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster, Topics
from tests.unit.cli.commands import run, told

TOPICS: Topics = {
    "orders": [(0, [0, 1], [0, 1]), (1, [1, 0], [1])],
    "payments": [(-1, [1, 0], [])],
}


def handle(broker: int, message: Message) -> Message:
    match message:
        case DescribeConfigsRequest():
            return DescribeConfigsResponse(
                results=[_configs(each.resource_name) for each in message.resources]
            )
        case CreateTopicsRequest():
            return CreateTopicsResponse(topics=[_created(each.name) for each in message.topics])
        case DeleteTopicsRequest():
            gone = [DeletableTopicResult(name=name) for name in message.topic_names]
            return DeleteTopicsResponse(responses=gone)
    raise AssertionError(message)


def _configs(name: str) -> DescribeConfigsResult:
    entries = [
        DescribeConfigsResourceResult(
            name=key, value="7", read_only=False, is_sensitive=False, config_source=source
        )
        for key, source in (("retention.ms", 1), ("segment.bytes", 5))
    ]
    return DescribeConfigsResult(
        error_message=None, resource_type=2, resource_name=name, configs=entries
    )


def _created(name: str) -> CreatableTopicResult:
    if name == "orders":
        code = ErrorCode.TOPIC_ALREADY_EXISTS
        return CreatableTopicResult(name=name, error_code=code, error_message="It exists.")
    return CreatableTopicResult(name=name, num_partitions=1, replication_factor=2)


@pytest.fixture
def bootstrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with ScriptedCluster(handle, topics=TOPICS).in_background() as address:
        monkeypatch.setenv("OTTLA_BOOTSTRAP", address)
        yield address


@pytest.mark.usefixtures("bootstrap")
def test_topics_are_listed_in_a_table_that_awk_can_read() -> None:
    result = run("topics", "list")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows == [
        ["topic", "partitions", "replicas", "id", "internal"],
        ["orders", "2", "2", "dHR0dHR0dHR0dHR0dHR0dA"],
        ["payments", "1", "2", "dHR0dHR0dHR0dHR0dHR0dA"],
    ]


def test_the_option_goes_before_the_environment(
    bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTTLA_BOOTSTRAP", "127.0.0.1:1")
    assert run("topics", "list", "-b", bootstrap).exit_code == 0


@pytest.mark.usefixtures("bootstrap")
def test_a_described_topic_shows_its_partitions_and_what_is_set() -> None:
    result = run("topics", "describe", "orders")
    assert result.stdout.splitlines() == [
        "orders: 2 partitions, replication factor 2, id dHR0dHR0dHR0dHR0dHR0dA",
        "  retention.ms=7",
        "partition  leader  replicas  in sync  state",
        "0          0       0,1       0,1      ok",
        "1          1       1,0       1        under-replicated",
    ]


@pytest.mark.usefixtures("bootstrap")
@pytest.mark.parametrize(
    ("option", "partitions"),
    [
        ("--under-replicated", {"orders": [1], "payments": [0]}),
        ("--unavailable", {"payments": [0]}),
    ],
)
def test_only_the_sick_partitions_are_shown(option: str, partitions: dict[str, list[int]]) -> None:
    shown = json.loads(run("topics", "describe", option, "--json").stdout)
    assert partitions == {
        topic["topic"]: [each["partition"] for each in topic["partitions"]] for topic in shown
    }
    assert shown[-1]["partitions"][0]["leader"] is None
    assert shown[-1]["configs"] == {"retention.ms": "7"}


@pytest.mark.usefixtures("bootstrap")
def test_an_unknown_topic_is_a_sentence_with_the_nearest_name() -> None:
    result = run("topics", "describe", "order")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "ottla: UNKNOWN_TOPIC_OR_PARTITION: there is no topic 'order'. Did you mean orders?\n"
    )


@pytest.mark.usefixtures("bootstrap")
def test_one_refused_topic_does_not_hide_the_others() -> None:
    result = run("topics", "create", "orders", "new")
    assert result.exit_code == 1
    assert result.stdout == "Created new with 1 partition, replication factor 2.\n"
    assert result.stderr == "ottla: orders: TOPIC_ALREADY_EXISTS: It exists.\n"


@pytest.mark.usefixtures("bootstrap")
def test_a_topic_that_exists_may_be_fine() -> None:
    result = run("topics", "create", "orders", "--if-not-exists", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == [{"topic": "orders", "created": False, "error": None}]


@pytest.mark.usefixtures("bootstrap")
def test_a_program_is_not_asked_before_a_topic_is_deleted() -> None:
    result = run("topics", "delete", "orders")
    assert (result.exit_code, result.stdout) == (0, "Deleted orders.\n")


@pytest.mark.usefixtures("bootstrap")
def test_configs_show_what_is_set_and_with_all_the_rest() -> None:
    assert run("configs", "describe", "-t", "orders").stdout.splitlines() == [
        "topic orders:",
        "name          from           value",
        "retention.ms  dynamic topic  7",
    ]
    every = json.loads(run("configs", "describe", "-t", "orders", "--all", "--json").stdout)
    assert [each["source"] for each in every[0]["configs"]] == [
        "DYNAMIC_TOPIC_CONFIG",
        "DEFAULT_CONFIG",
    ]


@pytest.mark.usefixtures("bootstrap")
def test_the_shell_completes_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_OTTLA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "ottla topics describe pay")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert run().stdout.split() == ["payments"]


def test_a_broker_that_is_not_there_is_a_sentence() -> None:
    result = run("topics", "list", "-b", "127.0.0.1:1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no broker answers at 127.0.0.1:1 (connection refused)" in result.stderr
    assert "OTTLA_BOOTSTRAP" in result.stderr


def test_the_shell_waits_for_no_broker_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTTLA_BOOTSTRAP", "127.0.0.1:1")
    monkeypatch.setenv("_OTTLA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "ottla topics describe ")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert run().stdout.split() == []


WRONG_CALLS = [
    (["topics", "list", "-b", "host:x"], "the port must be a number"),
    (["topics", "create", "a", "-p", "0"], "0 is not in the range"),
    (["topics", "create", "a", "-c", "retention.ms"], "'retention.ms' is not NAME=VALUE"),
    (["topics", "create", "a", "--assignment", "1:x"], "not broker ids"),
    (["topics", "create", "a", "-p", "1", "--assignment", "1"], "already says how many"),
    (["topics", "expand", "a"], "Missing option"),
    (["configs", "describe"], "say whose"),
    (["configs", "set", "-t", "a", "b"], "'b' is not NAME=VALUE"),
    (["configs", "describe", "--broker", "x"], "neither a broker's id nor 'default'"),
    (["offsets", "get", "a", "--at", "noon"], "'noon' is no time"),
    (["offsets", "delete-records", "a:0"], "not TOPIC:PARTITION=OFFSET"),
    (["offsets", "delete-records", "a=5"], "'a' is not TOPIC:PARTITION"),
    (["log-dirs", "move", "a", "--broker", "0", "--to", "/d"], "'a' is not TOPIC:PARTITION"),
    (["produce", "a", "--acks", "1", "--idempotence"], "needs --acks all"),
    (["produce", "a", "-H", "x"], "'x' is not NAME=VALUE"),
    (["consume", "a", "-f", "{nothing}"], "{nothing} is nothing that a record has"),
    (["consume", "a", "-o", "5"], "--offset needs --partition"),
    (["consume", "a", "-g", "g", "-p", "0"], "do not go with --group"),
    (["consume", "a", "--from-beginning", "-o", "-1"], "exclude each other"),
]


@pytest.mark.parametrize(("arguments", "why"), WRONG_CALLS)
def test_a_wrong_call_exits_with_2_and_says_why(arguments: list[str], why: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in told(result)
