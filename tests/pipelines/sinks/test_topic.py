"""Into a topic, exactly once, on a real broker."""

from __future__ import annotations

import json
from itertools import count

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ottla.pipelines.declaration import Avro, Csv, Json, Noop, Pipeline, SinkPlace, Text, Topic
from ottla.pipelines.kafka import Cluster, Committed
from ottla.pipelines.repair.letter import DeadLetter
from ottla.pipelines.sinks.making import make_letters, make_sink
from ottla.pipelines.sinks.port import Batch, Guarantee, Sink, SinkRefused
from ottla.testing.broker import Broker
from tests.kafka.peer import KafkaPeer
from tests.pipelines.sinks.topics import Read, committed_records, values

NUMBERS = count()
LETTER = DeadLetter("in", 0, 42, 0, b"k", b"bad", (), "not_null(id)", "id is null")


class Flow:
    """A pipeline from one topic into another, each with a name of its own."""

    def __init__(self, spark: SparkSession, bootstrap: str) -> None:
        self.spark, self.bootstrap = spark, bootstrap
        self.cluster = Cluster(bootstrap)
        number = next(NUMBERS)
        self.name, self.source = f"flow-{number}", f"in-{number}"
        self.out, self.dead = f"out-{number}", f"dead-{number}"
        self.cluster.create_topics({self.source: 2, self.out: 2, self.dead: 2})

    def pipeline(self, sink: SinkPlace | None = None) -> Pipeline:
        source, dead = Topic((self.source,)), Topic((self.dead,))
        out = Topic((self.out,), Text()) if sink is None else sink
        return Pipeline(self.name, lambda frame: frame, (source,), out, dead_letters=dead)

    def sink(self, sink: SinkPlace | None = None, *, generation: int = 0) -> Sink:
        made = make_sink(
            self.pipeline(sink),
            app=f"{self.name}.{generation}",
            spark=self.spark,
            cluster=self.cluster,
        )
        made.open()
        return made

    def batch(self, number: int, *letters: DeadLetter) -> Batch:
        return Batch(number, {(self.source, 1): 10 * (number + 1)}, lambda: letters)

    def rows(self, *rows: str) -> DataFrame:
        return self.spark.createDataFrame([(row,) for row in rows], "value string")

    def written(self) -> list[str]:
        return values(self.bootstrap, self.out)


@pytest.fixture
def flow(spark: SparkSession, broker: Broker) -> Flow:
    return Flow(spark, broker.bootstrap)


def test_rows_offsets_and_dead_letters_are_committed_together(flow: Flow) -> None:
    sink = flow.sink()
    assert sink.guarantee is Guarantee.EXACTLY_ONCE
    assert sink.last_batch() == -1
    assert sink.write(flow.rows("a", "b", "c"), flow.batch(0, LETTER)) == 3
    assert flow.written() == ["a", "b", "c"]
    assert values(flow.bootstrap, flow.dead) == ["bad"]
    assert flow.cluster.committed(f"pipeline.{flow.name}") == {
        (flow.source, 1): Committed(10, json.dumps({"batch": 0, "generation": 0}))
    }
    assert sink.last_batch() == 0
    sink.close()


def test_apache_kafka_takes_the_same_transactions(spark: SparkSession, kafka391: KafkaPeer) -> None:
    flow = Flow(spark, kafka391.bootstrap)
    old = flow.sink()
    assert old.write(flow.rows("a", "b"), flow.batch(0, LETTER)) == 2
    new = flow.sink()
    assert new.last_batch() == 0
    with pytest.raises(SinkRefused, match="took over"):
        old.write(flow.rows("c"), flow.batch(1))
    assert new.write(flow.rows("c"), flow.batch(1)) == 1
    assert flow.written() == ["a", "b", "c"]
    assert values(flow.bootstrap, flow.dead) == ["bad"]


def test_a_new_generation_knows_nothing_of_the_one_before(flow: Flow) -> None:
    flow.sink().write(flow.rows("a"), flow.batch(7))
    assert flow.sink().last_batch() == 7
    assert flow.sink(generation=1).last_batch() == -1


def test_a_run_that_was_replaced_cannot_write(flow: Flow) -> None:
    old = flow.sink()
    flow.sink(generation=1)
    with pytest.raises(SinkRefused, match=rf"another run of pipeline\.{flow.name} took over"):
        old.write(flow.rows("a"), flow.batch(0))
    assert flow.written() == []


def test_a_batch_that_fails_in_spark_leaves_nothing_and_can_be_written_again(flow: Flow) -> None:
    sink = flow.sink()
    bad = flow.rows("1", "x").select(
        F.when(F.col("value") != "x", F.col("value"))
        .otherwise(F.raise_error(F.lit("OTTLA-STOP rule: no")))
        .alias("value")
    )
    with pytest.raises(Exception, match="OTTLA-STOP rule: no"):
        sink.write(bad, flow.batch(0, LETTER))
    assert sink.last_batch() == -1
    assert sink.write(flow.rows("1"), flow.batch(0)) == 1
    assert flow.written() == ["1"]
    assert values(flow.bootstrap, flow.dead) == []


def test_a_record_that_the_broker_does_not_take_fails_its_batch_by_name(flow: Flow) -> None:
    sink = flow.sink()
    rows = flow.rows("a").withColumn("partition", F.lit(9))
    with pytest.raises(SinkRefused, match="UNKNOWN_PARTITION"):
        sink.write(rows, flow.batch(0))
    large = flow.rows("a").select(F.repeat("value", 2_000_000).alias("value"))
    with pytest.raises(SinkRefused, match="MSG_SIZE_TOO_LARGE"):
        sink.write(large, flow.batch(0))
    assert sink.write(flow.rows("b"), flow.batch(0)) == 1
    assert flow.written() == ["b"]


def test_the_connectors_columns_are_taken_as_they_are(flow: Flow) -> None:
    headers = F.array(F.struct(F.lit("h").alias("key"), F.lit(b"1").alias("value")))
    rows = flow.rows("a").select(
        F.lit("k").alias("key"),
        "value",
        headers.alias("headers"),
        F.lit(flow.dead).alias("topic"),
        F.lit(1).alias("partition"),
    )
    flow.sink().write(rows, flow.batch(0))
    assert committed_records(flow.bootstrap, flow.dead) == [Read(1, b"k", b"a", (("h", b"1"),))]


def test_any_columns_are_written_by_their_format(flow: Flow) -> None:
    rows = flow.spark.createDataFrame([(7, "a;b", None)], "id long, name string, none string")
    sink = flow.sink(Topic((flow.out,), Json(), key="id"))
    sink.write(rows, flow.batch(0))
    (read,) = committed_records(flow.bootstrap, flow.out)
    assert read.key == b"7"
    assert json.loads(read.value or b"") == {"id": 7, "name": "a;b"}
    sink = flow.sink(Topic((flow.dead,), Csv(delimiter=";")))
    sink.write(rows, flow.batch(1))
    assert values(flow.bootstrap, flow.dead) == ['7;"a;b";']


@pytest.mark.parametrize(
    ("column", "key"),
    [
        ("'a'", b"a"),
        ("X'00ff'", b"\x00\xff"),
        ("cast(1.5 as decimal(4,2))", b"1.50"),
        ("true", b"true"),
        ("date'2026-01-02'", b'"2026-01-02"'),
        ("named_struct('a', 1, 'b', array(2, 3))", b'{"a":1,"b":[2,3]}'),
        ("cast(null as int)", None),
    ],
)
def test_a_key_that_is_no_text_is_json(flow: Flow, column: str, key: bytes | None) -> None:
    rows = flow.rows("a").selectExpr("value", f"{column} as key")
    flow.sink(Topic((flow.out,), Text(), key="key")).write(rows, flow.batch(0))
    assert [read.key for read in committed_records(flow.bootstrap, flow.out)] == [key]


def test_columns_that_have_no_place_in_a_record_are_refused(flow: Flow) -> None:
    sink = flow.sink()
    rows = flow.rows("a").selectExpr("value", "1 as id")
    with pytest.raises(SinkRefused, match=r"Not of: id int\. Name a format such as json\(\)"):
        sink.write(rows, flow.batch(0))
    with pytest.raises(SinkRefused, match="Not of: rows without value"):
        sink.write(flow.rows("a").selectExpr("value as key"), flow.batch(0))
    keyed = flow.sink(Topic((flow.out,), Json(), key="nobody"))
    with pytest.raises(SinkRefused, match=r"column 'nobody', which .* They have: value"):
        keyed.write(flow.rows("a"), flow.batch(0))


def test_a_topic_that_is_not_there_is_named_at_once(flow: Flow) -> None:
    with pytest.raises(SinkRefused, match="has no topic missing: create it first"):
        flow.sink(Topic(("missing",)))


def test_a_pipeline_from_elsewhere_remembers_its_batch_on_the_topic_it_writes(flow: Flow) -> None:
    sink = flow.sink()
    sink.write(flow.rows("a"), Batch(4, {}, tuple))
    assert sink.last_batch() == 4
    assert flow.cluster.committed(f"pipeline.{flow.name}")[flow.out, 0].offset == 5


def test_a_sink_without_offsets_has_them_settled_with_its_letters(flow: Flow) -> None:
    app = f"{flow.name}.0"
    letters = make_letters(flow.pipeline(Noop()), app=app, cluster=flow.cluster)
    letters.open()
    assert letters.settle(flow.batch(0, LETTER, LETTER)) == 2
    letters.close()
    again = make_letters(flow.pipeline(Noop()), app=app, cluster=flow.cluster)
    again.open()
    assert again.settle(flow.batch(0, LETTER, LETTER)) == 0
    assert again.settle(flow.batch(1)) == 0
    assert values(flow.bootstrap, flow.dead) == ["bad", "bad"]
    assert flow.cluster.committed(f"pipeline.{flow.name}")[flow.source, 1].offset == 20


def test_rows_are_written_as_avro_by_their_schema(flow: Flow) -> None:
    schema = {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}],
    }
    sink = flow.sink(Topic((flow.out,), Avro(json.dumps(schema)), key="id"))
    rows = flow.spark.createDataFrame([(7, "a")], "id long, name string")
    assert sink.write(rows, flow.batch(0)) == 1
    (read,) = committed_records(flow.bootstrap, flow.out)
    assert (read.key, read.value) == (b"7", b"\x0e\x02a")


def test_a_schema_that_is_missing_is_told_when_the_sink_is_opened(flow: Flow) -> None:
    with pytest.raises(SinkRefused, match=rf"topic {flow.out}: "):
        flow.sink(Topic((flow.out,), Avro()))
