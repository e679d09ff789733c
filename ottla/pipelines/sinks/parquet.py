"""Into a folder of Parquet files, exactly once: a batch is a folder, and counts once it is named.

Each batch is written to a place of its own, over whatever a run that died left there, and then
named in the next version of the manifest. Many small folders are put together into one the same
way. Whoever reads by the manifest, as `read_parquet` does, sees every row once at any moment.
"""

from __future__ import annotations

import json

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ottla.pipelines.folder import Folder, LocalFolder, open_folder
from ottla.pipelines.sinks.counting import counted
from ottla.pipelines.sinks.manifest import Manifest, Part, from_json, together_path
from ottla.pipelines.sinks.port import Batch, Guarantee, SinkRefused

VERSIONS = "_manifest"
_KEPT_VERSIONS = 20  # a reader has that long between listing them and reading the last
_MOST_PARTS = 64  # of one level
_ROWS_OF_A_FILE = 2_000_000


class ParquetSink:
    guarantee = Guarantee.EXACTLY_ONCE
    takes_offsets = False
    sees_rows = False

    def __init__(
        self, spark: SparkSession, path: str, *, app: str, most_parts: int = _MOST_PARTS
    ) -> None:
        self._spark = spark
        self._folder = open_folder(path, spark)
        self._app = app
        self._most_parts = most_parts
        self._manifest = Manifest()

    def open(self) -> None:
        self._manifest = newest(self._folder)

    def last_batch(self) -> int:
        return self._manifest.batches.get(self._app, -1)

    def write(self, frame: DataFrame, batch: Batch) -> int:
        self._check_alone()  # before it touches what another run may have named
        # By the app: a replay, or another pipeline, has batches of the same numbers.
        path = f"app={self._app}/batch={batch.id}"
        rows, count = counted(frame)
        rows.write.mode("overwrite").parquet(location(self._folder, path))
        self._publish(
            self._manifest.with_batch(
                path,
                rows=count(),
                app=self._app,
                batch=batch.id,
                schema=_widened(self._manifest.schema, frame.schema),
            )
        )
        while crowded := self._manifest.crowded(self._most_parts):
            self._put_together(crowded)
        return count()

    def _put_together(self, old: tuple[Part, ...]) -> None:
        for path in self._manifest.retired:
            self._folder.delete(path)
        path = together_path(old)
        rows = sum(part.rows for part in old)
        files = -(-rows // _ROWS_OF_A_FILE)
        found = _read(self._spark, self._folder, self._manifest.schema, old)
        found.coalesce(files).write.mode("overwrite").parquet(location(self._folder, path))
        self._publish(self._manifest.with_together(old, path=path))

    def _publish(self, manifest: Manifest) -> None:
        self._check_alone()
        self._folder.write(_file(manifest.version), manifest.to_json())
        self._folder.delete(_file(manifest.version - _KEPT_VERSIONS))
        self._manifest = manifest

    def _check_alone(self) -> None:
        if newest(self._folder).version != self._manifest.version:
            raise SinkRefused(
                f"{self._folder.path} was written by another run of {self._app} meanwhile; "
                "this one has to end"
            )

    def close(self) -> None: ...


def read_parquet(spark: SparkSession, path: str) -> DataFrame:
    """All rows that were written whole, each once."""
    folder = open_folder(path, spark)
    manifest = newest(folder)
    if not manifest.version:
        raise FileNotFoundError(f"{path}: no pipeline has written anything there")
    return _read(spark, folder, manifest.schema, manifest.parts)


def newest(folder: Folder) -> Manifest:
    while names := folder.names(VERSIONS):
        # Gone, if so much was written since we looked that it is no longer kept: look again.
        if (text := folder.read(f"{VERSIONS}/{names[-1]}")) is not None:
            return from_json(text)
    return Manifest()


def _file(version: int) -> str:
    return f"{VERSIONS}/{version:012d}.json"


def _read(spark: SparkSession, folder: Folder, schema: str, parts: tuple[Part, ...]) -> DataFrame:
    shape = StructType.fromJson(json.loads(schema))
    if not parts:
        return spark.createDataFrame([], shape)
    paths = [location(folder, part.path) for part in parts]
    return spark.read.schema(shape).parquet(*paths)


def location(folder: Folder, path: str = "") -> str:
    """For Spark, to which a path without a scheme may mean another machine."""
    scheme = "file:" if isinstance(folder, LocalFolder) else ""
    return f"{scheme}{folder.path}/{path}".rstrip("/")


def _widened(known: str, schema: StructType) -> str:
    """Columns that no longer come are still there in what was written before."""
    if not known:
        return schema.json()
    old = StructType.fromJson(json.loads(known))
    gone = [field for field in old.fields if field.name not in schema.names]
    return StructType([*schema.fields, *gone]).json()
