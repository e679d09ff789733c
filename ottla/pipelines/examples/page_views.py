"""Page views, counted by the minute into a table and enriched into another topic.

`ottla demo` runs both on traffic that it makes, with a few records that nobody can read. The
folder of the table is the environment's OTTLA_DEMO, or the one where it is started.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ottla.pipelines.declare import between, database, json, not_null, pipeline, topic

TABLE = f"sqlite:{os.environ.get('OTTLA_DEMO', '.')}/page-views.db"
MOST_SECONDS = 3_600


@dataclass
class PageView:
    event_id: str
    page: str
    country: str | None
    seconds: float
    at: datetime


PAGE_VIEWS = topic("page-views", format=json(PageView))


@pipeline(
    source=PAGE_VIEWS,
    sink=database(TABLE, "views_per_minute", key=["page", "minute"]),
    malformed="drop",  # the other pipeline keeps them as dead letters
    output_mode="update",
    every="2 seconds",
)
def views_per_minute(events: DataFrame) -> DataFrame:
    minute = F.window("at", "1 minute")
    counted = events.withWatermark("at", "10 minutes").groupBy("page", minute.alias("minute"))
    views = counted.agg(F.count("*").alias("views"), F.round(F.avg("seconds"), 1).alias("seconds"))
    return views.select("page", F.col("minute.start").alias("minute"), "views", "seconds")


@pipeline(
    source=PAGE_VIEWS,
    sink=topic("page-views-enriched", format=json(), key="page"),
    contract=[not_null("country"), between("seconds", 0, MOST_SECONDS, otherwise="drop")],
    dead_letters=topic("page-views.dlq"),
    every="2 seconds",
)
def enriched(events: DataFrame) -> DataFrame:
    section = F.split_part("page", F.lit("/"), F.lit(2)).alias("section")
    return events.select("*", section, (F.col("seconds") > 60).alias("is_long"))
