"""What the tests on Spark share: one session for all of them, and the brokers and databases."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ottla.pipelines.jars import CONNECTOR, DELTA, JarsMissing, have
from ottla.pipelines.kafka import Cluster
from ottla.testing.broker import Broker
from ottla.testing.spark import small_session
from tests.kafka import jars
from tests.kafka.peer import KafkaPeer
from tests.pipelines.lab import Lab
from tests.pipelines.postgres import Postgres


@pytest.fixture(scope="session")
def spark_jars() -> list[str]:
    """Of the connector and of Delta. Without them the tests are skipped; in CI that fails."""
    jars.require("java")
    try:
        return have((*CONNECTOR, *DELTA))
    except JarsMissing as cause:
        if os.environ.get("CI") == "true":
            pytest.fail(str(cause))
        pytest.skip(str(cause))


@pytest.fixture(scope="session")
def spark(
    spark_jars: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """The one session. Stop the queries you start; leave it and its settings as they were."""
    with small_session(tmp_path_factory.mktemp("spark"), jars=spark_jars) as it:
        yield it


@pytest.fixture(scope="session")
def ottla_spark(spark: SparkSession) -> SparkSession:
    """There is one session in a process; the plugin's would be the same, and stop it."""
    return spark


@pytest.fixture(autouse=True)
def no_query_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a failed test left running would slow, or disturb, all after it."""
    yield
    if "spark" in request.fixturenames:
        for query in request.getfixturevalue("spark").streams.active:
            query.stop()


@pytest.fixture(scope="session")
def broker(ottla: Broker) -> Broker:
    return ottla


@pytest.fixture(scope="session")
def kafka391(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaPeer]:
    """A real Apache Kafka: `bootstrap` says where. It makes no topics by itself."""
    peer = KafkaPeer(jars.classpath(), tmp_path_factory.mktemp("kafka"), {})
    try:
        peer.start()
        yield peer
    finally:
        peer.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.close()


@pytest.fixture
def lab(spark: SparkSession, broker: Broker, tmp_path: Path, request: pytest.FixtureRequest) -> Lab:
    """Its topics are named for the test."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name)[-100:].strip("-")
    return Lab(spark, Cluster(broker.bootstrap), tmp_path / "state", name)
