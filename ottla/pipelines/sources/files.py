"""Files of a folder as a stream, each read once: CSV, JSON lines or Parquet.

A file is read when it is there, so it must be moved into the folder whole. Names that begin with
a dot or an underscore are left alone, as everywhere in Spark.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from ottla.pipelines.declaration import Folder
from ottla.pipelines.reading.origin import origin
from ottla.pipelines.reading.whole import CORRUPT

PARQUET = "parquet"
_USUAL = {
    "maxFilesPerTrigger": "1000",
    # Spark passes over files that are a week older than the newest, without a word.
    "maxFileAge": "36500d",
    # Else the columns of a CSV are taken by their order, whatever its header calls them.
    "enforceSchema": "false",
}
_OURS = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": CORRUPT,
    # Or whether a line is corrupt would depend on the columns that somebody wants of it.
    "columnPruning": "false",
}


def stream(spark: SparkSession, source: Folder) -> DataFrame:
    """The declared columns, `_corrupt` unless it is Parquet, and `_origin`: the file and its time.

    The offset is a row's number in the file for Parquet; for lines it is the first byte of the
    block that the task reads, from where `line_numbers.py` counts.
    """
    is_text = source.format != PARQUET
    fields = [*source.schema, *([StructField(CORRUPT, StringType())] if is_text else [])]
    rows = (
        spark.readStream.format(source.format)
        .schema(StructType(fields))
        .options(**{**_USUAL, **source.options, **_OURS})
        .load(source.path)
    )
    return rows.select(
        *(F.col(f"`{field.name}`") for field in source.schema),
        *([F.col(CORRUPT)] if is_text else []),
        origin(
            topic=F.col("_metadata.file_path"),
            partition=F.lit(0),
            offset=F.col(f"_metadata.{'file_block_start' if is_text else 'row_index'}"),
            timestamp=F.col("_metadata.file_modification_time"),
            key=F.lit(None),
        ),
    )
