"""What Kafka 3.9.1's own tools say of a broker: topics, configs, offsets, groups, speed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from ottla.protocol.registry import API_NAMES
from tests.clients.client import Sent
from tests.clients.confluent_client import ConfluentClient
from tests.clients.conftest import make_topic
from tests.tools.tools import Tools

T0 = 1_600_000_000_000


def ten_in_each(tools: Tools, client: ConfluentClient, *, partitions: int = 2) -> str:
    """A topic with one record a second in each partition."""
    topic = make_topic(tools.bootstrap, partitions=partitions)
    client.produce(
        topic,
        [
            Sent(b"%d" % i, timestamp=T0 + 1000 * i, partition=partition)
            for i in range(10)
            for partition in range(partitions)
        ],
    )
    return topic


def commit(tools: Tools, group: str, topic: str, offsets: dict[int, int]) -> None:
    consumer = Consumer({"bootstrap.servers": tools.bootstrap, "group.id": group})
    wanted = [TopicPartition(topic, partition, offset) for partition, offset in offsets.items()]
    consumer.commit(offsets=wanted, asynchronous=False)
    consumer.close()


def test_kafka_topics(tools: Tools) -> None:
    tool, topic = "kafka-topics", "made-by-tools"
    settings = ("--partitions", "2", "--replication-factor", "1", "--config", "retention.ms=5000")
    assert f"Created topic {topic}." in tools(tool, "--create", "--topic", topic, *settings).out
    again = tools(tool, "--create", "--topic", topic, *settings, fails=True)
    assert f"Topic '{topic}' already exists." in again.out + again.err
    assert topic in tools(tool, "--list").out.split()
    described = tools(tool, "--describe", "--topic", topic).out
    assert "PartitionCount: 2" in described
    assert "retention.ms=5000" in described
    tools(tool, "--alter", "--topic", topic, "--partitions", "3")
    assert "Partition: 2\tLeader: 0\tReplicas: 0\tIsr: 0" in (
        tools(tool, "--describe", "--topic", topic).out
    )
    tools(tool, "--delete", "--topic", topic)
    assert topic not in tools(tool, "--list").out.split()


def test_kafka_configs(tools: Tools) -> None:
    tool, topic = "kafka-configs", make_topic(tools.bootstrap)
    of = ("--entity-type", "topics", "--entity-name", topic)
    changed = tools(tool, *of, "--alter", "--add-config", "cleanup.policy=[compact,delete]")
    assert f"Completed updating config for topic {topic}." in changed.out
    assert "cleanup.policy=compact,delete" in tools(tool, *of, "--describe").out
    assert "synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy" in (
        tools(tool, *of, "--describe", "--all").out
    )
    tools(tool, *of, "--alter", "--delete-config", "cleanup.policy")
    assert "cleanup.policy=compact" not in tools(tool, *of, "--describe").out
    wrong = tools(tool, *of, "--alter", "--add-config", "retention.ms=soon", fails=True)
    assert "retention.ms" in wrong.err
    assert "soon" in wrong.err
    broker = ("--entity-type", "brokers", "--entity-name", "0")
    assert "STATIC_BROKER_CONFIG:log.retention.ms=-1" in (
        tools(tool, *broker, "--describe", "--all").out
    )


def test_kafka_get_offsets(tools: Tools, client: ConfluentClient) -> None:
    topic = ten_in_each(tools, client)
    tool = ("kafka-get-offsets", "--topic", topic)
    assert tools(*tool).out.split() == [f"{topic}:0:10", f"{topic}:1:10"]
    assert tools(*tool, "--time", "earliest").out.split() == [f"{topic}:0:0", f"{topic}:1:0"]
    asked = ("--time", str(T0 + 3500), "--partitions", "1")
    assert tools(*tool, *asked).out.split() == [f"{topic}:1:4"]
    newest = tools(*tool, "--time", "max-timestamp")
    assert newest.out.split() == [f"{topic}:0:9", f"{topic}:1:9"]


def test_kafka_delete_records(tools: Tools, client: ConfluentClient, tmp_path: Path) -> None:
    topic = ten_in_each(tools, client)
    wanted = {
        "version": 1,
        "partitions": [
            {"topic": topic, "partition": 0, "offset": 4},
            {"topic": topic, "partition": 1, "offset": -1},
        ],
    }
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps(wanted), encoding="utf-8")
    printed = tools("kafka-delete-records", "--offset-json-file", str(file)).out
    assert f"partition: {topic}-0\tlow_watermark: 4" in printed
    assert f"partition: {topic}-1\tlow_watermark: 10" in printed
    assert client.offsets(topic, partition=0) == (4, 10)


def test_kafka_log_dirs(tools: Tools, client: ConfluentClient) -> None:
    topic = ten_in_each(tools, client)
    printed = tools("kafka-log-dirs", "--describe", "--topic-list", topic).out
    (broker,) = json.loads(printed.splitlines()[-1])["brokers"]
    (directory,) = broker["logDirs"]
    assert (broker["broker"], directory["error"]) == (0, None)
    sizes = {each["partition"]: each["size"] for each in directory["partitions"]}
    assert sizes.keys() == {f"{topic}-0", f"{topic}-1"}
    assert min(sizes.values()) > 0


def test_kafka_broker_api_versions(tools: Tools) -> None:
    printed = tools("kafka-broker-api-versions").out
    assert f"{tools.bootstrap} (id: 0 rack: null) -> (" in printed
    unusable = [line for line in printed.splitlines() if "UNSUPPORTED" in line]
    for name in ("Produce", "Fetch", "Metadata", "JoinGroup", "OffsetCommit", "DescribeConfigs"):
        assert f"\t{name}(" in printed
        assert not any(f"\t{name}(" in line for line in unusable)
    assert "JoinGroup" in API_NAMES.values()


def test_kafka_consumer_groups_tells_of_groups(tools: Tools, client: ConfluentClient) -> None:
    topic, group, tool = ten_in_each(tools, client), "told-by-tools", "kafka-consumer-groups"
    consumer = Consumer(
        {
            "bootstrap.servers": tools.bootstrap,
            "group.id": group,
            "client.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    (message,) = consumer.consume(1, timeout=30)
    consumer.commit(message=message, asynchronous=False)
    assert group in tools(tool, "--list").out.split()
    listed = tools(tool, "--list", "--state", "Stable").table
    assert {"GROUP": group, "STATE": "Stable"} in listed
    rows = {row["PARTITION"]: row for row in tools(tool, "--describe", "--group", group).table}
    read = rows[str(message.partition())]
    assert (read["CURRENT-OFFSET"], read["LOG-END-OFFSET"], read["LAG"]) == ("1", "10", "9")
    assert (read["CLIENT-ID"], read["HOST"]) == ("reader", "/127.0.0.1")
    (member,) = tools(tool, "--describe", "--group", group, "--members", "--verbose").table
    assert (member["CLIENT-ID"], member["#PARTITIONS"]) == ("reader", "2")
    (state,) = tools(tool, "--describe", "--group", group, "--state").rows[1:]
    assert [state[0], *state[-2:]] == [group, "Stable", "1"]
    busy = tools(tool, "--delete", "--group", group, fails=False)
    assert "GroupNotEmptyException" in busy.out
    consumer.close()


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (("--to-earliest",), 0),
        (("--to-latest",), 10),
        (("--to-offset", "3"), 3),
        (("--shift-by", "-2"), 4),
        (("--shift-by", "99"), 10),
        (("--to-datetime", "2020-09-13T12:26:44.500"), 5),
        (("--by-duration", "PT1S"), 10),
        (("--to-current",), 6),
    ],
    ids=lambda value: "".join(value) if isinstance(value, tuple) else str(value),
)
def test_kafka_consumer_groups_resets_offsets(
    how: tuple[str, ...], expected: int, tools: Tools, client: ConfluentClient
) -> None:
    topic, tool = ten_in_each(tools, client, partitions=1), "kafka-consumer-groups"
    group = f"reset{''.join(how)}"
    commit(tools, group, topic, {0: 6})
    reset = (tool, "--reset-offsets", "--group", group, "--topic", topic, *how)
    _, planned = tools(*reset, "--dry-run").out.split("NEW-OFFSET")  # with no line's end after it
    assert planned.split() == [group, topic, "0", str(expected)]
    (row,) = tools(tool, "--describe", "--group", group).table
    assert row["CURRENT-OFFSET"] == "6"
    tools(*reset, "--execute")
    (row,) = tools(tool, "--describe", "--group", group).table
    assert (row["CURRENT-OFFSET"], row["LAG"]) == (str(expected), str(10 - expected))


def test_kafka_consumer_groups_deletes(tools: Tools, client: ConfluentClient) -> None:
    topic, group, tool = ten_in_each(tools, client), "deleted-by-tools", "kafka-consumer-groups"
    commit(tools, group, topic, {0: 1, 1: 2})
    of = ("--group", group)
    tools(tool, "--delete-offsets", *of, "--topic", f"{topic}:0")
    (row,) = tools(tool, "--describe", *of).table
    assert (row["PARTITION"], row["CURRENT-OFFSET"]) == ("1", "2")
    deleted = tools(tool, "--delete", *of)
    assert f"Deletion of requested consumer groups ('{group}') was successful." in deleted.out
    assert group not in tools(tool, "--list").out.split()


def test_the_perf_tools_count_what_they_moved(tools: Tools) -> None:
    topic = make_topic(tools.bootstrap, partitions=3)
    made = tools.bare(
        "kafka-producer-perf-test",
        *("--topic", topic, "--num-records", "5000", "--record-size", "100", "--throughput", "-1"),
        *("--producer-props", f"bootstrap.servers={tools.bootstrap}", "acks=all"),
    )
    assert made.out.splitlines()[-1].startswith("5000 records sent, ")
    read = tools("kafka-consumer-perf-test", "--topic", topic, "--messages", "5000")
    head, row = read.out.splitlines()[-2:]
    found = dict(zip(head.split(", "), row.split(", "), strict=True))
    assert found["data.consumed.in.nMsg"] == "5000"


def test_the_verifiable_clients_see_each_record_once(tools: Tools) -> None:
    topic = make_topic(tools.bootstrap, partitions=2)
    options = ("--topic", topic, "--max-messages", "200")
    sent = tools.alone("kafka-verifiable-producer", *options)
    acknowledged = [e["value"] for e in sent if e["name"] == "producer_send_success"]
    assert sorted(map(int, acknowledged)) == [*range(200)]
    group = ("--group-id", "verified", "--reset-policy", "earliest", "--verbose")
    read = tools.alone("kafka-verifiable-consumer", *options, *group)
    assert sorted(int(e["value"]) for e in read if e["name"] == "record_data") == [*range(200)]
    kinds = dict.fromkeys(e["name"] for e in read)
    assert {"partitions_assigned", "offsets_committed", "shutdown_complete"} <= kinds.keys()
