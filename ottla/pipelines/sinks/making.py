"""The sink that a pipeline declares, and what commits its offsets where the sink does not."""

from __future__ import annotations

from functools import partial

from pyspark.sql import SparkSession

from ottla.pipelines.declaration import (
    Console,
    DatabaseTable,
    DeltaTable,
    Memory,
    Noop,
    ParquetFolder,
    Pipeline,
    Topic,
)
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.repair.letter_records import to_records
from ottla.pipelines.sinks.database import Database, DatabaseSink
from ottla.pipelines.sinks.delta import DeltaSink
from ottla.pipelines.sinks.letters import Letterbox, Letters
from ottla.pipelines.sinks.parallel import ParallelTopicSink
from ottla.pipelines.sinks.parquet import ParquetSink
from ottla.pipelines.sinks.port import Sink, SinkRefused
from ottla.pipelines.sinks.postgres import PostgreSql
from ottla.pipelines.sinks.sqlite import Sqlite
from ottla.pipelines.sinks.topic import TopicSink
from ottla.pipelines.sinks.transaction import OffsetsTransaction
from ottla.pipelines.sinks.trying import ConsoleSink, MemorySink, NoopSink


def make_sink(pipeline: Pipeline, *, app: str, spark: SparkSession, cluster: Cluster) -> Sink:
    """`app` is NAME.GENERATION, under which the sink remembers its batches."""
    match pipeline.sink:
        case Topic(delivery="parallel") as topic:
            return ParallelTopicSink(spark, topic, bootstrap=cluster.bootstrap)
        case Topic(delivery="realtime") as topic:
            raise SinkRefused(
                f"topic {topic.name}: real time has no batches; start_realtime runs it"
            )
        case Topic() as topic:
            transaction = _transaction(pipeline, topic, app=app, cluster=cluster)
            return TopicSink(topic, _letterbox(pipeline), transaction)
        case ParquetFolder(path=path):
            return ParquetSink(spark, path, app=app)
        case DeltaTable() as place:
            return DeltaSink(spark, place, app=app)
        case DatabaseTable() as table:
            return DatabaseSink(make_database(table), table, app=app)
        case Console(rows=rows):
            return ConsoleSink(rows)
        case Memory(name=name):
            return MemorySink(name, spark)
        case Noop():
            return NoopSink()
    raise SinkRefused(f"there is no sink for {pipeline.sink}")


def make_letters(pipeline: Pipeline, *, app: str, cluster: Cluster) -> Letters:
    """For a sink with `takes_offsets` False."""
    transaction = _transaction(pipeline, pipeline.dead_letters, app=app, cluster=cluster)
    return Letters(_letterbox(pipeline), transaction)


def make_database(table: DatabaseTable) -> Database:
    kind, _, path = table.database.partition(":")
    match kind:
        case "postgresql" | "postgres":
            return PostgreSql(table.database)
        case "sqlite":
            return Sqlite(path.removeprefix("//"))
        case "duckdb":
            # Loaded when it is used: it ends every program that has it with pages of warnings.
            from ottla.pipelines.sinks.duck import DuckDb  # noqa: PLC0415

            return DuckDb(path.removeprefix("//"))
    raise SinkRefused(
        f"database {kind}:… is none that can be written to. "
        "There are: postgresql://HOST/NAME, sqlite:FILE, duckdb:FILE"
    )


def _letterbox(pipeline: Pipeline) -> Letterbox:
    declared = pipeline.dead_letters
    return Letterbox(
        None if declared is None else declared.name, partial(to_records, pipeline=pipeline.name)
    )


def _transaction(
    pipeline: Pipeline, topic: Topic | None, *, app: str, cluster: Cluster
) -> OffsetsTransaction:
    written = [each.name for each in (topic, pipeline.dead_letters) if each is not None]
    return OffsetsTransaction(
        cluster,
        group=pipeline.group,
        generation=int(app.rpartition(".")[2]),
        sources=pipeline.topics,
        targets=list(dict.fromkeys(written)),
        settings={} if topic is None else topic.options,
    )
