"""What `ottla pipeline new` writes: its own tests pass; and the helpers that they use."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from ottla.cli.pipeline_new import new
from ottla.pipelines.declaration import Table
from ottla.pipelines.declare import avro, files, json, noop, not_null, pipeline, raw, topic
from ottla.testing.broker import Broker
from ottla.testing.pipelines import run_on_rows

SHAPE = {"id": "long", "price": "decimal(5,2) or null", "at": "timestamp or null"}
ROW = {"id": 1, "price": Decimal("1.50"), "at": datetime(2026, 1, 1, tzinfo=UTC)}


def test_the_starters_own_tests_pass(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    new("starter-of-test", folder=tmp_path)
    tests = import_module("test_starter_of_test")
    tests.test_only_events_with_an_amount_go_on(spark)
    tests.test_what_breaks_the_contract_is_a_dead_letter(spark)
    tests.test_end_to_end(broker, spark, tmp_path / "state")
    for name in ("starter_of_test", "test_starter_of_test"):
        del sys.modules[name]


def test_two_sources_of_any_kind_are_given_as_rows(spark: SparkSession) -> None:
    @pipeline(
        source=[files("in", SHAPE), Table("postgresql://nowhere", "items", "id")],
        sink=noop(),
        dead_letters=topic("dlq"),
        contract=[not_null("id")],
    )
    def joined(prices: DataFrame, items: DataFrame) -> DataFrame:
        return prices.join(items, "id").select("id", "price", "name")

    outcome = run_on_rows(
        joined, spark, [ROW, {"id": None}, "a poor line"], [{"id": 1, "name": "a"}]
    )
    assert outcome.rows == [{"id": 1, "price": Decimal("1.50"), "name": "a"}]
    assert [(letter.topic, letter.offset, letter.rule) for letter in outcome.dead_letters] == [
        ("in", 1, "not null in schema"),
        ("in", 2, "malformed"),
    ]
    assert (outcome.counts.records_in, outcome.counts.passed) == (4, 2)


def test_rows_become_records_of_the_topics_format(spark: SparkSession) -> None:
    schema = '{"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]}'

    @pipeline(source=[topic("a", format=avro(schema)), topic("b", format=json(SHAPE))], sink=noop())
    def both(left: DataFrame, right: DataFrame) -> DataFrame:
        return left.join(right, "id")

    (row,) = run_on_rows(both, spark, [{"id": 1}], [ROW]).rows
    assert (row["price"], row["at"].astimezone(UTC)) == (ROW["price"], ROW["at"])


def test_the_function_alone_sees_rows_that_the_contract_would_not_let_pass(
    spark: SparkSession,
) -> None:
    @pipeline(source=topic("a", format=json(SHAPE)), sink=noop(), contract=[not_null("price")])
    def as_is(rows: DataFrame) -> DataFrame:
        return rows.select("id")

    assert run_on_rows(as_is, spark, [{"id": None}], contract=False).rows == [{"id": None}]


def test_a_row_for_a_topic_of_bytes_is_a_mistake(spark: SparkSession) -> None:
    @pipeline(source=topic("a", format=raw()), sink=noop())
    def as_is(rows: DataFrame) -> DataFrame:
        return rows

    with pytest.raises(TypeError, match="must be given as bytes or text"):
        run_on_rows(as_is, spark, [{"id": 1}])
