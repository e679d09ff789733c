"""The example of a Spark Declarative Pipeline, run as its own words say, on Ottla."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from ottla.pipelines.kafka import Cluster
from ottla.testing.broker import Broker
from ottla.testing.spark import SHORT_LIVED

EXAMPLE = Path(__file__).parents[2] / "examples" / "declarative"
LIMIT_S = 300
VIEWS = [("ann", "/home", "search"), ("bob", "/home", ""), ("ann", "/shoes", "search")]


def test_the_example_counts_pages_and_writes_a_topic(
    broker: Broker, spark: SparkSession, spark_jars: list[str], tmp_path: Path
) -> None:
    for topic in ("page-views", "page-views.from-search"):
        broker.create_topic(topic)
    produce(broker, "page-views")
    run(broker, spark_jars, tmp_path)
    counts = spark.read.parquet(str(tmp_path / "warehouse" / "views_by_page")).collect()
    assert sorted((row.page, row["count"]) for row in counts) == [("/home", 2), ("/shoes", 1)]
    assert consumed(spark, broker, "page-views.from-search") == [
        ("ann", "/home"),
        ("ann", "/shoes"),
    ]


def produce(broker: Broker, topic: str) -> None:
    producer = Cluster(broker.bootstrap).producer({})
    for user_id, page, referrer in VIEWS:
        view = {"user_id": user_id, "page": page, "referrer": referrer}
        producer.produce(topic, json.dumps(view).encode())
    assert producer.flush(30) == 0


def run(broker: Broker, jars: list[str], folder: Path) -> None:
    shutil.copytree(EXAMPLE, folder / "example")
    spec = folder / "example" / "spark-pipeline.yml"
    text = spec.read_text(encoding="utf-8")
    place = "file:///tmp/ottla-declarative"
    assert place in text
    spec.write_text(text.replace(place, (folder / "storage").as_uri()), encoding="utf-8")
    home = Path(pyspark.__file__).parent
    # With a third one `spark-pipelines` of Spark 4.2 forgets the jars.
    settings = ("spark.ui.enabled=false", f"spark.sql.warehouse.dir={folder}/warehouse")
    done = subprocess.run(
        [
            home / "bin" / "spark-pipelines",
            *("--remote", "local[2]", "--jars", ",".join(jars)),
            *(word for setting in settings for word in ("--conf", setting)),
            "run",
        ],
        cwd=folder / "example",
        env={
            **os.environ,
            "SPARK_HOME": str(home),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JDK_JAVA_OPTIONS": SHORT_LIVED,
            "OTTLA_BOOTSTRAP": broker.bootstrap,
        },
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def consumed(spark: SparkSession, broker: Broker, topic: str) -> list[tuple[str, str]]:
    kafka = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": topic}
    records = spark.read.format("kafka").options(**kafka).load().collect()
    values = [json.loads(record.value) for record in records]
    return sorted((value["user_id"], value["page"]) for value in values)
