"""`spark.readStream.format("ottla")`: batches, checkpoints, new partitions, and lost records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from ottla.pipelines.datasource.source import register
from ottla.pipelines.declaration import Topic
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.sources import topic as topics
from ottla.testing.broker import Broker
from tests.pipelines.topics import delete_before, fill, grow, transact


@pytest.fixture(scope="module", autouse=True)
def registered(spark: SparkSession) -> None:
    register(spark)


class Reading:
    """One query of a topic: what came in which batch."""

    def __init__(self, spark: SparkSession, broker: Broker, checkpoint: Path) -> None:
        self._spark = spark
        self._address = {"kafka.bootstrap.servers": broker.bootstrap}
        self._checkpoint = checkpoint
        self.batches: list[list[str]] = []

    def take(self) -> list[list[str]]:
        taken, self.batches = self.batches, []
        return taken

    def started(self, form: str = "ottla", **options: str) -> StreamingQuery:
        return self._writer(form, options).start()

    def to_the_end(self, form: str = "ottla", **options: str) -> list[list[str]]:
        query = self._writer(form, options).trigger(availableNow=True).start()
        query.awaitTermination()
        return self.take()

    def _writer(self, form: str, options: dict[str, str]) -> DataStreamWriter:
        given = {"startingOffsets": "earliest", **self._address, **options}
        frame = self._spark.readStream.format(form).options(**given).load()
        writer = frame.writeStream.option("checkpointLocation", str(self._checkpoint))
        return writer.foreachBatch(self._keep)

    def _keep(self, frame: DataFrame, number: int) -> None:
        rows = sorted(frame.collect(), key=lambda row: (row.topic, row.partition, row.offset))
        self.batches.append([row.value.decode() for row in rows])

    def stored(self, batch: int) -> object:
        lines = (self._checkpoint / "offsets" / str(batch)).read_text().splitlines()
        return json.loads(lines[2])


@pytest.fixture
def reading(spark: SparkSession, broker: Broker, tmp_path: Path) -> Reading:
    return Reading(spark, broker, tmp_path / "checkpoint")


def test_a_query_goes_on_where_it_was_in_batches_of_the_wanted_size(
    reading: Reading, broker: Broker, ottla_topic: str
) -> None:
    grow(broker.bootstrap, ottla_topic, to=2)
    fill(broker.bootstrap, ottla_topic, [f"a{n}" for n in range(4)], partition=0)
    fill(broker.bootstrap, ottla_topic, [f"b{n}" for n in range(2)], partition=1)
    limits = {"subscribe": ottla_topic, "maxOffsetsPerTrigger": "4"}
    assert reading.to_the_end(**limits) == [["a0", "a1", "b0"], ["a2", "a3", "b1"]]
    assert reading.stored(0) == {ottla_topic: {"0": 2, "1": 1}}
    assert reading.stored(1) == {ottla_topic: {"0": 4, "1": 2}}
    grow(broker.bootstrap, ottla_topic, to=3)
    fill(broker.bootstrap, ottla_topic, ["c0"], partition=2)
    assert reading.to_the_end(**limits) == [["c0"]]
    assert reading.to_the_end(**limits) == []


def test_a_checkpoint_of_the_connector_is_gone_on_with_and_the_other_way_round(
    reading: Reading, broker: Broker, ottla_topic: str
) -> None:
    seen = []
    for number, form in enumerate(("kafka", "ottla", "kafka")):
        fill(broker.bootstrap, ottla_topic, [f"v{number}"])
        seen += reading.to_the_end(form, subscribe=ottla_topic)
    assert [value for batch in seen for value in batch] == ["v0", "v1", "v2"]


def test_topics_and_partitions_that_appear_while_it_runs_are_read(
    reading: Reading, broker: Broker
) -> None:
    broker.create_topic("grows-a")
    query = reading.started(subscribePattern="grows-.*", startingOffsets="latest")
    query.processAllAvailable()
    fill(broker.bootstrap, "grows-a", ["first"])
    query.processAllAvailable()
    broker.create_topic("grows-b")
    fill(broker.bootstrap, "grows-b", ["of a new topic"])
    grow(broker.bootstrap, "grows-a", to=2)
    fill(broker.bootstrap, "grows-a", ["of a new partition"], partition=1)
    query.processAllAvailable()
    progress = query.lastProgress
    query.stop()
    seen = [value for batch in reading.take() for value in batch]
    assert seen[0] == "first"
    assert sorted(seen[1:]) == ["of a new partition", "of a new topic"]
    assert progress is not None
    latest = json.loads(progress["sources"][0]["latestOffset"])
    assert latest == {"grows-a": {"0": 1, "1": 1}, "grows-b": {"0": 1}}


def test_an_aborted_transaction_is_passed_and_leaves_nothing(
    reading: Reading, broker: Broker, ottla_topic: str
) -> None:
    transact(broker.bootstrap, ottla_topic, ["kept"], commit=True)
    transact(broker.bootstrap, ottla_topic, ["dropped"], commit=False)
    committed = {"kafka.isolation.level": "read_committed"}
    assert reading.to_the_end(subscribe=ottla_topic, **committed) == [["kept"]]
    assert reading.stored(0) == {ottla_topic: {"0": 4}}


def test_few_records_wait_until_they_are_many(
    reading: Reading, broker: Broker, ottla_topic: str
) -> None:
    fill(broker.bootstrap, ottla_topic, ["first"])
    least = {"subscribe": ottla_topic, "minOffsetsPerTrigger": "3", "maxTriggerDelay": "10m"}
    query = reading.started(**least)
    query.processAllAvailable()
    fill(broker.bootstrap, ottla_topic, ["a", "b"])
    fill(broker.bootstrap, ottla_topic, ["c"])
    query.processAllAvailable()
    query.stop()
    assert reading.take() == [["first"], ["a", "b", "c"]]


def test_records_deleted_before_they_were_read_stop_the_query_with_their_range(
    reading: Reading, broker: Broker, ottla_topic: str
) -> None:
    fill(broker.bootstrap, ottla_topic, ["v0", "v1"])
    assert reading.to_the_end(subscribe=ottla_topic) == [["v0", "v1"]]
    fill(broker.bootstrap, ottla_topic, ["v2", "v3", "v4"])
    delete_before(broker.bootstrap, ottla_topic, 4)
    with pytest.raises(StreamingQueryException, match="-0: offsets 2 to 3: deleted before they"):
        reading.to_the_end(subscribe=ottla_topic)
    assert reading.to_the_end(subscribe=ottla_topic, failOnDataLoss="false") == [["v4"]]


def test_a_recreated_topic_stops_the_query(
    reading: Reading, broker: Broker, ottla_topic: str
) -> None:
    fill(broker.bootstrap, ottla_topic, ["v0", "v1"])
    assert reading.to_the_end(subscribe=ottla_topic) == [["v0", "v1"]]
    broker.delete_topic(ottla_topic)
    with pytest.raises(StreamingQueryException, match="from offset 2: the partition does not"):
        reading.to_the_end(subscribe=ottla_topic)
    broker.create_topic(ottla_topic)
    fill(broker.bootstrap, ottla_topic, ["w0"])
    why = "from offset 2: the partition ends at offset 1: the topic was recreated"
    with pytest.raises(StreamingQueryException, match=why):
        reading.to_the_end(subscribe=ottla_topic)


@pytest.mark.parametrize("connector", [True, False])
def test_a_pipelines_stream_begins_at_its_first_positions(
    spark: SparkSession, broker: Broker, ottla_topic: str, tmp_path: Path, connector: bool
) -> None:
    fill(broker.bootstrap, ottla_topic, ["too old"], timestamp=1_000)
    fill(broker.bootstrap, ottla_topic, ["new"], timestamp=2_000, headers=[("h", b"1")])
    source = Topic((ottla_topic,), start="1970-01-01T00:00:01.500Z")
    start = topics.first_positions(Cluster(broker.bootstrap), source)
    frame = topics.stream(
        spark, source, bootstrap=broker.bootstrap, connector=connector, start=start
    )
    rows = []
    query = (
        frame.writeStream.option("checkpointLocation", str(tmp_path))
        .foreachBatch(lambda batch, _: rows.extend(batch.collect()))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert [(row.offset, row.value, row.headers[0].key) for row in rows] == [(1, b"new", "h")]
