"""How many records make a batch, by what a topic holds."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ottla.pipelines.declaration import Noop, Pipeline, Table, Topic
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.sources.batch_size import BATCH_BYTES, LEAST, MOST, PIECE_BYTES, sized
from ottla.testing.broker import Broker


@pytest.fixture
def cluster(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


def limits(cluster: Cluster, *sources: Topic | Table) -> list[int | None]:
    read = sized(Pipeline("p", lambda *rows: rows[0], sources, Noop()), cluster)
    return [source.at_once for source in read.sources if isinstance(source, Topic | Table)]


def fill(cluster: Cluster, topic: str, size: int, *, count: int = 20) -> None:
    producer = cluster.producer({"message.max.bytes": 2_000_000})
    for _ in range(count):
        producer.produce(topic, value=bytes(size))
    producer.flush()


@pytest.mark.parametrize(
    ("size", "limit"),
    [(20, MOST), (1024, BATCH_BYTES // 1024), (10_000, BATCH_BYTES // 10_000), (900_000, LEAST)],
)
def test_a_batch_is_no_larger_than_the_driver_can_hold(
    cluster: Cluster, ottla_topic: str, size: int, limit: int
) -> None:
    fill(cluster, ottla_topic, size)
    assert limits(cluster, Topic((ottla_topic,))) == [limit]


def test_where_nothing_is_known_it_is_careful(cluster: Cluster, ottla_topic: str) -> None:
    assert limits(cluster, Topic((ottla_topic,))) == [16_384]
    assert limits(cluster, Topic((f"{ottla_topic}-gone",))) == [16_384]


def test_tombstones_are_records_too(cluster: Cluster, ottla_topic: str) -> None:
    producer = cluster.producer({})
    producer.produce(ottla_topic, value=None)
    producer.flush()
    assert limits(cluster, Topic((ottla_topic,))) == [MOST]


def test_what_was_said_holds(cluster: Cluster, ottla_topic: str) -> None:
    table = Table("postgresql://nobody", "t", "id", at_once=7)
    assert limits(cluster, Topic((ottla_topic,), at_once=5_000_000), table) == [5_000_000, 7]


def test_of_several_topics_the_largest_records_count(cluster: Cluster, ottla_topic: str) -> None:
    other = f"{ottla_topic}-other"
    cluster.create_topics({other: 1})
    fill(cluster, ottla_topic, 20)
    fill(cluster, other, 10_000)
    assert limits(cluster, Topic((ottla_topic, other))) == [BATCH_BYTES // 10_000]


PIECE = "spark.sql.execution.arrow.maxRecordsPerBatch"


def pieces(cluster: Cluster, *sources: Topic | Table, **given: str) -> Mapping[str, str]:
    said = Pipeline("p", lambda *rows: rows[0], sources, Noop(), settings=given)
    return sized(said, cluster).settings


def test_small_pieces_go_to_python_at_a_time(cluster: Cluster, ottla_topic: str) -> None:
    fill(cluster, ottla_topic, 1000)
    source = Topic((ottla_topic,), at_once=7)
    expected = {
        PIECE: str(PIECE_BYTES // 1000),
        "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
    }
    assert pieces(cluster, source) == expected
    assert pieces(cluster, source, **{PIECE: "5"}) == expected | {PIECE: "5"}


def test_spark_looks_at_sizes_where_nobody_has(cluster: Cluster, ottla_topic: str) -> None:
    seen = Topic((ottla_topic,))
    assert pieces(cluster, seen, x="y") == {"x": "y"}
    fill(cluster, ottla_topic, 1000)
    assert pieces(cluster, seen, Table("postgresql://nobody", "t", "id")) == {}


def test_one_topic_that_nobody_knows_is_enough_to_be_careful(
    cluster: Cluster, ottla_topic: str
) -> None:
    fill(cluster, ottla_topic, 20)
    both = Topic((ottla_topic, f"{ottla_topic}-gone"))
    assert limits(cluster, both) == [16_384]
    assert pieces(cluster, both) == {}
