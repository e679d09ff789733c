"""What Kafka 3.9.1's own tool says of transactions, beside what `ottla transactions` says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.conftest import make_topic
from tests.integration.group_stories import Commands
from tests.integration.transaction_stories import (
    LONG_AGO_MS,
    STRANGER,
    UNVERIFIED,
    begin,
    hang,
    producer,
    read_committed,
)
from tests.tools.tools import Tools

TOOL = "kafka-transactions"
_PATIENCE_S = 60


@pytest.fixture
def unverified(tools: Tools) -> Iterator[Tools]:
    """While a broker does not ask whether a transaction is open, one can be made to hang."""
    (setting,) = [f"{name}={value}" for name, value in UNVERIFIED.items()]
    change = ("--entity-type", "brokers", "--entity-default", "--alter")
    tools("kafka-configs", *change, "--add-config", setting)
    yield tools
    tools("kafka-configs", *change, "--delete-config", *UNVERIFIED)


def test_kafka_transactions_tells_of_one_that_goes_on(tools: Tools) -> None:
    topic = make_topic(tools.bootstrap, partitions=2)
    writer = producer(tools.bootstrap, topic)
    begin(writer, topic, 0, 1)
    (ours,) = Commands(tools.bootstrap).told("transactions", "describe", topic)
    (listed,) = [row for row in tools(TOOL, "list").table if row["TransactionalId"] == topic]
    assert listed == {
        "TransactionalId": topic,
        "Coordinator": "0",
        "ProducerId": str(ours["producer_id"]),
        "TransactionState": "Ongoing",
    }
    (described,) = tools(TOOL, "describe", "--transactional-id", topic).table
    assert (described["CoordinatorId"], described["TransactionState"]) == ("0", "Ongoing")
    assert described["ProducerEpoch"] == str(ours["producer_epoch"])
    assert described["TransactionTimeoutMs"] == str(ours["timeout_ms"])
    assert described["CurrentTransactionStartTimeMs"] == str(ours["started_ms"])
    assert sorted(described["TopicPartitions"].split(",")) == [f"{topic}-0", f"{topic}-1"]
    place = ("--topic", topic, "--partition", "1")
    (written,) = tools(TOOL, "describe-producers", *place).table
    assert (written["ProducerId"], written["CurrentTransactionStartOffset"]) == (
        listed["ProducerId"], "0",
    )  # fmt: skip
    assert tools(TOOL, "find-hanging", "--topic", topic).table == []
    writer.commit_transaction(_PATIENCE_S)
    assert read_committed(tools.bootstrap, topic, partition=1) == b"v"
    (written,) = tools(TOOL, "describe-producers", *place).table
    assert written["CurrentTransactionStartOffset"] == "None"
    unknown = tools(TOOL, "describe", "--transactional-id", "nobody", fails=True)
    assert "failed because the ID could not be found" in unknown.err


def test_kafka_transactions_ends_one_that_hangs(unverified: Tools) -> None:
    tools, topic = unverified, make_topic(unverified.bootstrap)
    hang(tools.bootstrap, topic)
    (found,) = tools(TOOL, "find-hanging", "--topic", topic).table
    (ours,) = (
        Commands(tools.bootstrap)
        .run("transactions", "find-hanging", "--topic", topic)
        .stdout.splitlines()[1:]
    )
    place = (topic, "0", str(STRANGER), "0")
    assert tuple(found.values())[:4] == tuple(ours.split())[:4] == place
    assert (found["CoordinatorEpoch"], found["StartOffset"]) == ("-1", "0")
    assert found["LastTimestamp"] == str(LONG_AGO_MS)
    assert tools(TOOL, "find-hanging", "--broker-id", "0").table == [found]
    where = ("--topic", topic, "--partition", "0", "--start-offset")
    wrong = tools(TOOL, "abort", *where, "2", fails=True)
    assert "Could not find any open transactions starting at offset 2" in wrong.err
    tools(TOOL, "abort", *where, "0")
    assert tools(TOOL, "find-hanging", "--topic", topic).table == []
    (written,) = tools(TOOL, "describe-producers", *where[:4]).table
    assert (written["CurrentTransactionStartOffset"], written["LatestCoordinatorEpoch"]) == (
        "None", "0",
    )  # fmt: skip
