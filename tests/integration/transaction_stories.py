"""What `ottla transactions` tells of a real broker, whoever's it is; and how one comes to hang.

Each story has a topic of its own with two partitions, and names its transactional id after it. The
broker must not verify transactions (`transaction.partition.verification.enable`), or none hangs.
"""

from __future__ import annotations

from confluent_kafka import Consumer, Producer, TopicPartition

from ottla.protocol.apis.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from tests.integration.group_stories import Commands
from tests.targets.connection import ask

UNVERIFIED = {"transaction.partition.verification.enable": "false"}
STRANGER = 777_000  # a producer that no coordinator has ever heard of
LONG_AGO_MS = 1_600_000_000_000
_VERSION = 7
_PATIENCE_S = 60
_LOOKS = 1_000


def hang(bootstrap: str, topic: str, *, producer_id: int = STRANGER) -> None:
    """A batch of a transaction that no coordinator knows, as a late one was before KIP-890."""
    records = [Record(number, LONG_AGO_MS, None, b"late") for number in range(3)]
    batch = build_batch(
        records, producer_id=producer_id, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    written = [PartitionProduceData(index=0, records=batch)]
    request = ProduceRequest(
        transactional_id="late",
        acks=-1,
        timeout_ms=10_000,
        topic_data=[TopicProduceData(name=topic, partition_data=written)],
    )
    answer = ask(bootstrap, request, _VERSION)
    assert isinstance(answer, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


def producer(bootstrap: str, name: str, **options: str) -> Producer:
    made = Producer({"bootstrap.servers": bootstrap, "transactional.id": name, **options})
    made.init_transactions(_PATIENCE_S)
    return made


def begin(made: Producer, topic: str, *partitions: int) -> None:
    made.begin_transaction()
    for partition in partitions:
        made.produce(topic, b"v", partition=partition)
    assert made.flush(_PATIENCE_S) == 0


def read_committed(bootstrap: str, topic: str, *, partition: int = 0) -> bytes | None:
    """The first record that a read_committed consumer gets."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": topic,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    try:
        consumer.assign([TopicPartition(topic, partition, 0)])
        (message,) = consumer.consume(1, timeout=_PATIENCE_S)
        return message.value()
    finally:
        consumer.close()


def one_that_goes_on(commands: Commands, topic: str) -> None:
    """It is told as its coordinator knows it, suspected of nothing, and protected."""
    writer = producer(commands.bootstrap, topic)
    begin(writer, topic, 0, 1)
    (listed,) = [
        each
        for each in commands.told("transactions", "list", "--state", "ongoing")
        if each["transactional_id"] == topic
    ]
    assert listed["partitions"] == [
        {"topic": topic, "partition": 0},
        {"topic": topic, "partition": 1},
    ]
    (described,) = commands.told("transactions", "describe", topic)
    first, second = described["partitions"]
    assert (first["last_stable_offset"], first["high_watermark"], first["held_back"]) == (0, 1, 1)
    assert second["open"][0]["verdict"] == "ongoing"
    assert (second["open"][0]["producer_id"], second["open"][0]["start_offset"]) == (
        listed["producer_id"], 0,
    )  # fmt: skip
    why = commands.done("transactions", "describe", "--topic", f"{topic}:0")
    assert f"knows transaction {topic!r} as Ongoing, times out in" in why
    quick = ("transactions", "find-hanging", "--topic", topic, "--silent-for", "0s")
    assert commands.done(*quick) == "No transaction hangs in 2 partitions.\n"
    abort = ("transactions", "abort", f"{topic}:0", "--start-offset", "0")
    assert "It does not hang" in commands.refused(*abort)
    writer.commit_transaction(_PATIENCE_S)
    for partition in (0, 1):
        assert read_committed(commands.bootstrap, topic, partition=partition) == b"v"
    ended = commands.told("transactions", "describe", "--topic", topic)
    assert [(each["open"], each["held_back"]) for each in ended] == [([], 0), ([], 0)]
    done = ("--state", "CompleteCommit", "--producer-id", str(listed["producer_id"]))
    # The coordinator notes it when all markers are written, which is soon.
    found = (commands.told("transactions", "list", *done) for _ in range(_LOOKS))
    (idle,) = next(each for each in found if each)
    assert (idle["transactional_id"], idle["partitions"]) == (topic, [])


def one_that_hangs(commands: Commands, topic: str) -> None:
    """It is found, explained, and ended by the command that the explanation names."""
    hang(commands.bootstrap, topic)
    commands.done("produce", topic, "-p", "0", stdin=b"behind it\n")
    result = commands.run("transactions", "find-hanging", "--topic", topic)
    assert result.exit_code == 1
    command = f"ottla transactions abort {topic}:0 --start-offset 0"
    assert f"no coordinator knows it: hanging; abort it with `{command}`" in result.stdout
    (held,) = commands.told("transactions", "describe", "--topic", f"{topic}:0")
    assert (held["last_stable_offset"], held["held_back"]) == (0, 4)
    assert [each["verdict"] for each in held["open"]] == ["hanging"]
    assert held["open"][0]["began_ms"] == LONG_AGO_MS
    _, *arguments = command.split()
    assert "Would abort" in commands.done(*arguments, "--dry-run")
    assert commands.done(*arguments) == (
        f"Aborted what producer {STRANGER} had open in {topic}-0.\n"
    )
    assert read_committed(commands.bootstrap, topic) == b"behind it"
    assert commands.told("transactions", "find-hanging", "--topic", topic) == []
    assert "none is open there" in commands.refused(*arguments)


STORIES = (one_that_goes_on, one_that_hangs)
