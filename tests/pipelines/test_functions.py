"""What users write in their functions: windows, joins, deduplication, their own state, SQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ottla.pipelines.declaration import Pipeline
from ottla.pipelines.declare import json, memory, pipeline, topic
from ottla.pipelines.running.replay import BadReplay, Replay, replay_of
from ottla.pipelines.yaml_file import read_yaml
from tests.pipelines.lab import Lab

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@dataclass
class View:
    id: int
    page: str
    at: datetime


@dataclass
class Sale:
    view_id: int
    cents: int
    sold_at: datetime


def views(pages: str, *, first: int = 0, seconds_apart: int = 20) -> list[object]:
    return [
        {
            "id": first + n,
            "page": page,
            "at": (NOON + n * timedelta(seconds=seconds_apart)).isoformat(),
        }
        for n, page in enumerate(pages)
    ]


def table(lab: Lab, name: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in lab.spark.table(name).collect())


def test_a_window_counts_over_batches_and_runs(lab: Lab) -> None:
    @pipeline(
        source=topic(lab.topic("in"), format=json(View), at_once=4),
        sink=topic(lab.topic("out"), format=json(), key="page"),
        output_mode="update",
    )
    def per_minute(events: DataFrame) -> DataFrame:
        minute = F.window("at", "1 minute").alias("minute")
        counted = events.withWatermark("at", "10 minutes").groupBy("page", minute).count()
        return counted.select("page", F.col("minute.start").alias("minute"), "count")

    lab.produce(f"{lab.name}-in", views("ababab"), partition=0)
    lab.run(per_minute)
    lab.produce(f"{lab.name}-in", views("a"), partition=0)
    lab.run(per_minute)
    newest: dict[tuple[str, str], int] = {}
    for row in lab.rows(f"{lab.name}-out"):
        newest[row["page"], row["minute"]] = row["count"]
    assert newest == {
        ("a", "2026-01-31T12:00:00.000Z"): 3,
        ("b", "2026-01-31T12:00:00.000Z"): 1,
        ("a", "2026-01-31T12:01:00.000Z"): 1,
        ("b", "2026-01-31T12:01:00.000Z"): 2,
    }


def test_two_topics_are_joined(lab: Lab) -> None:
    @pipeline(
        source=[
            topic(lab.topic("views", partitions=1), format=json(View)),
            topic(lab.topic("sales", partitions=1), format=json(Sale)),
        ],
        sink=topic(lab.topic("out"), format=json()),
    )
    def sold(views: DataFrame, sales: DataFrame) -> DataFrame:
        soon = (F.col("sold_at") >= F.col("at")) & (
            F.col("sold_at") <= F.col("at") + F.expr("interval 1 hour")
        )
        late = views.withWatermark("at", "1 hour").drop("_origin")
        sales = sales.withWatermark("sold_at", "1 hour").drop("_origin")
        joined = late.join(sales, (F.col("id") == F.col("view_id")) & soon)
        return joined.select("page", "cents")

    lab.produce(f"{lab.name}-views", views("abc"))
    sale = {"view_id": 1, "cents": 250, "sold_at": (NOON + timedelta(minutes=5)).isoformat()}
    lab.produce(f"{lab.name}-sales", [sale, {**sale, "view_id": 9}])
    lab.run(sold)
    assert lab.rows(f"{lab.name}-out") == [{"page": "b", "cents": 250}]
    done = lab.cluster.committed(sold.group)
    assert {place[0]: at.offset for place, at in done.items()} == {
        f"{lab.name}-views": 3,
        f"{lab.name}-sales": 2,
    }


def test_what_was_seen_before_is_not_seen_again(lab: Lab) -> None:
    @pipeline(
        source=topic(lab.topic("in"), format=json(View)),
        sink=topic(lab.topic("out"), format=json()),
    )
    def first_of_page(events: DataFrame) -> DataFrame:
        return events.withWatermark("at", "1 hour").dropDuplicatesWithinWatermark(["page"])

    lab.produce(f"{lab.name}-in", views("aab"))
    lab.run(first_of_page)
    lab.produce(f"{lab.name}-in", views("bc", first=10))
    lab.run(first_of_page)
    assert sorted(row["page"] for row in lab.rows(f"{lab.name}-out")) == ["a", "b", "c"]


class RunningCount(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self._count = handle.getValueState("count", "n int")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        before = (self._count.get() or (0,))[0]
        now = before + sum(1 for _ in rows)
        self._count.update((now,))
        yield Row(page=key[0], n=now)

    def close(self) -> None:
        pass


def test_a_state_of_ones_own_lasts_over_runs(lab: Lab) -> None:
    @pipeline(
        source=topic(lab.topic("in"), format=json(View)),
        sink=topic(lab.topic("out"), format=json()),
        output_mode="update",
    )
    def running(events: DataFrame) -> DataFrame:
        return events.groupBy("page").transformWithState(
            statefulProcessor=RunningCount(),
            outputStructType="page string, n int",
            outputMode="Update",
            timeMode="None",
        )

    for pages in ("aab", "ab"):
        lab.produce(f"{lab.name}-in", views(pages))
        lab.run(running)
    found = [(row["page"], row["n"]) for row in lab.rows(f"{lab.name}-out")]
    assert sorted(found) == [("a", 2), ("a", 3), ("b", 1), ("b", 2)]


def test_a_pipeline_of_yaml_and_sql_runs_as_one_of_python(lab: Lab) -> None:
    lab.topic("in")
    lab.topic("out")
    (long_pages,) = read_yaml(
        "p.yaml",
        f"""
pipelines:
  long-pages:
    source: {{topic: {lab.name}-in, format: {{json: {{id: long, page: string, at: timestamp}}}}}}
    sql: select id, upper(page) as page from events where length(page) > 1
    sink: {{topic: {lab.name}-out, format: json, key: id}}
""",
    )
    lab.produce(
        f"{lab.name}-in",
        [{"id": n, "page": p, "at": NOON.isoformat()} for n, p in enumerate(["a", "bc"])],
    )
    lab.run(long_pages)
    assert lab.rows(f"{lab.name}-out") == [{"id": 1, "page": "BC"}]


def replayed(lab: Lab, pages: Pipeline, *, from_ms: int, to_ms: int, into: str | None) -> Replay:
    return replay_of(
        pages,
        lab.cluster,
        str(lab.root),
        lambda _: lab.spark,
        from_ms=from_ms,
        to_ms=to_ms,
        into=into,
    )


def test_a_time_that_is_past_is_replayed_into_another_sink(lab: Lab) -> None:
    @pipeline(
        source=topic(lab.topic("in", partitions=1), format=json(View)),
        sink=topic(lab.topic("out"), format=json()),
    )
    def pages(events: DataFrame) -> DataFrame:
        return events.select("id", "page")

    lab.produce_at(f"{lab.name}-in", views("abcdef"), [1_000 * n for n in range(1, 7)])
    lab.run(pages)
    into = f"topic:{lab.topic('again')}"
    again = replayed(lab, pages, from_ms=2_500, to_ms=5_000, into=into)
    assert again.pipeline.name == "pages.replay-1"
    status = lab.run(again.pipeline, ends=again.ends)
    assert sorted(row["page"] for row in lab.rows(f"{lab.name}-again")) == ["c", "d"]
    assert status.rows_in == 2
    # Called again with the same times it goes on where it was: at its end.
    same = replayed(lab, pages, from_ms=2_500, to_ms=5_000, into=into)
    assert same.pipeline.name == "pages.replay-1"
    lab.run(same.pipeline, ends=same.ends)
    assert len(lab.rows(f"{lab.name}-again")) == 2
    other = replayed(lab, pages, from_ms=0, to_ms=9, into="noop")
    assert other.pipeline.name == "pages.replay-2"


def test_a_replay_of_no_time_is_refused(lab: Lab) -> None:
    @pipeline(source=topic(lab.topic("in"), format=json(View)), sink=memory("nothing"))
    def pages(events: DataFrame) -> DataFrame:
        return events

    with pytest.raises(BadReplay, match="--from is not before --to"):
        replayed(lab, pages, from_ms=5, to_ms=5, into=None)
    with pytest.raises(BadReplay, match="'csv:x' is no sink: give topic:NAME"):
        replayed(lab, pages, from_ms=1, to_ms=5, into="csv:x")
