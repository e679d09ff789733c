"""A small Spark session for tests: two cores, quickly there, nothing left behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from ottla.pipelines.jars import CONNECTOR, DELTA, Jar, missing
from ottla.pipelines.jars import have as paths_of
from ottla.pipelines.session import session

# The second compiler would not pay for itself.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def small_session(folder: Path, *, jars: Sequence[str] | None = None) -> SparkSession:
    """With these jars; if None, with those of the cache. It works in the folder."""
    given = [*_cached(CONNECTOR), *_cached(DELTA)] if jars is None else jars
    settings = {
        "spark.driver.extraJavaOptions": SHORT_LIVED,
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.local.dir": str(folder),
    }
    has_delta = any(DELTA[0].file in path for path in given)
    return session("tests", master="local[2]", jars=given, settings=settings, delta=has_delta)


def _cached(jars: Sequence[Jar]) -> list[str]:
    """All or none: a test fetches nothing."""
    return [] if missing(jars) else paths_of(jars)
