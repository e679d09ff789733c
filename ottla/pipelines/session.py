"""One way to a Spark session, on this machine or on a cluster: quiet, in UTC, with our code."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

import ottla
from ottla.pipelines.jars import cache

LOOPBACK = "127.0.0.1"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:,\s*\d+)?\])?")
_EVERYWHERE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    # Spark then tells our source which partitions a condition leaves; without, it reads them all.
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def session(
    name: str = "ottla",
    *,
    master: str = "local[*]",
    jars: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    delta: bool = False,
    memory: str = "1g",
) -> SparkSession:
    """`settings` win over ours; options for Java are added to ours."""
    if is_on_this_machine(master):
        # The workers would take the python3 of the PATH, which need not have what we need.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    builder = SparkSession.builder.appName(name).master(master)
    chosen = settings_of(master, jars=jars, delta=delta, memory=memory, given=settings or {})
    for key, value in chosen.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if not _LOCAL.fullmatch(master):
        spark.sparkContext.addPyFile(str(packed(Path(tempfile.mkdtemp(prefix="ottla-package-")))))
    return spark


def settings_of(
    master: str, *, jars: Sequence[str], delta: bool, memory: str, given: Mapping[str, str]
) -> dict[str, str]:
    log4j = Path(__file__).with_name("log4j2.properties").as_uri()
    options = f"-Dlog4j2.configurationFile={log4j} {given.get(_JAVA_OPTIONS, '')}"
    return {
        **_EVERYWHERE,
        "spark.driver.memory": memory,
        **(_DELTA if delta else {}),
        **({"spark.jars": ",".join(jars)} if jars else {}),
        **(_on_this_machine(master) if is_on_this_machine(master) else {}),
        **given,
        _JAVA_OPTIONS: options.strip(),
    }


def is_on_this_machine(master: str) -> bool:
    """With local-cluster the executors are processes of their own, but here."""
    return bool(_LOCAL.fullmatch(master)) or master.startswith("local-cluster[")


def _on_this_machine(master: str) -> dict[str, str]:
    cores = _cores(master)
    return {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.default.parallelism": cores,
        "spark.sql.shuffle.partitions": cores,
        "spark.databricks.delta.snapshotPartitions": cores,  # 50, if it is not told
        # Rows that a sink takes to the driver: above this a task's result goes round by a server.
        "spark.task.maxDirectResultSize": "100m",
        # Spark makes the folder, if need be or not; by default where the command was called.
        "spark.sql.warehouse.dir": (cache() / "spark-warehouse").as_uri(),
    }


def _cores(master: str) -> str:
    found = _LOCAL.fullmatch(master)
    if found is None:  # local-cluster[executors,cores,memory]
        executors, cores, _ = re.findall(r"\d+", master)
        return str(int(executors) * int(cores))
    return str(os.cpu_count() or 1) if found[1] == "*" else found[1] or "1"


def packed(folder: Path) -> Path:
    """This package as a zip, for executors that may not have it, or have another version of it."""
    # Spark hands it out for as long as the session lives.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package = Path(ottla.__file__).parent
    target = folder / f"ottla-{ottla.__version__}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(package.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                archive.write(path, path.relative_to(package.parent))
    return target
