"""`format("ottla")`: topics for Spark without a jar, as rows and options of its connector."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from ottla.pipelines.datasource.batch import BatchReader
from ottla.pipelines.datasource.options import BadOptions, read_options, write_options
from ottla.pipelines.datasource.rows import columns
from ottla.pipelines.datasource.stream import StreamReader
from ottla.pipelines.datasource.writing import BatchWriter, StreamWriter, check_columns

FORMAT = "ottla"


class OttlaDataSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        include = (self.options.get("includeHeaders") or "").lower() == "true"
        return columns(include_headers=include)

    def reader(self, schema: StructType) -> DataSourceReader:
        return BatchReader(read_options(self.options, streaming=False))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return StreamReader(read_options(self.options, streaming=True))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        if overwrite:
            raise BadOptions("a topic cannot be overwritten: mode must be append")
        options = write_options(self.options)
        check_columns(schema, options.topic)
        return BatchWriter(options)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        options = write_options(self.options)
        check_columns(schema, options.topic)
        return StreamWriter(options)


def register(spark: SparkSession) -> None:
    """Harmless if it is already."""
    spark.dataSource.register(OttlaDataSource)
