"""Page views from a topic into a table, counted by page, and those from a search into a topic."""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

KAFKA = {"kafka.bootstrap.servers": os.environ.get("OTTLA_BOOTSTRAP", "127.0.0.1:9092")}
PAGE_VIEW = "user_id string, page string, referrer string"


@dp.table
def page_views() -> DataFrame:
    spark = SparkSession.active()
    records = spark.readStream.format("kafka").options(**KAFKA, subscribe="page-views")
    views = records.option("startingOffsets", "earliest").load()
    return views.select(F.from_json(F.col("value").cast("string"), PAGE_VIEW).alias("view")).select(
        "view.*"
    )


@dp.materialized_view
def views_by_page() -> DataFrame:
    return SparkSession.active().read.table("page_views").groupBy("page").count()


dp.create_sink("from_search", "kafka", {**KAFKA, "topic": "page-views.from-search"})


@dp.append_flow(target="from_search")
def found_by_search() -> DataFrame:
    views = SparkSession.active().readStream.table("page_views")
    found = views.where(F.col("referrer") == "search")
    return found.select(F.to_json(F.struct("user_id", "page")).alias("value"))
