"""The settings of a session, by where it runs; and the package that goes to its executors."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from ottla import __version__
from ottla.pipelines.session import is_on_this_machine, packed, settings_of

JAVA = "spark.driver.extraJavaOptions"


def settings(
    master: str, *, jars: tuple[str, ...] = (), delta: bool = False, given: Mapping[str, str] = {}
) -> dict[str, str]:
    return settings_of(master, jars=jars, delta=delta, memory="1g", given=given)


@pytest.mark.parametrize(
    ("master", "cores"), [("local", "1"), ("local[3]", "3"), ("local-cluster[2,3,1024]", "6")]
)
def test_here_a_shuffle_has_as_many_parts_as_there_are_cores(master: str, cores: str) -> None:
    found = settings(master)
    assert found["spark.sql.shuffle.partitions"] == cores
    assert found["spark.driver.host"] == "127.0.0.1"


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:6443"])
def test_on_a_cluster_the_driver_can_be_reached_and_the_cluster_decides(master: str) -> None:
    assert not is_on_this_machine(master)
    found = settings(master)
    decided = ("spark.driver.host", "spark.sql.shuffle.partitions", "spark.sql.warehouse.dir")
    assert [name for name in decided if name in found] == []
    assert found["spark.sql.session.timeZone"] == "UTC"


def test_what_is_given_wins_but_for_javas_options_which_are_added() -> None:
    found = settings("local[2]", given={JAVA: "-Xss2m", "spark.ui.enabled": "true"})
    assert found["spark.ui.enabled"] == "true"
    quiet, added = found[JAVA].split(" ")
    assert (quiet.partition("=")[0], added) == ("-Dlog4j2.configurationFile", "-Xss2m")
    assert Path(quiet.partition("=file://")[2]).exists()


def test_jars_and_delta_are_there_when_they_are_asked_for() -> None:
    assert settings("local", jars=("a.jar", "b.jar"))["spark.jars"] == "a.jar,b.jar"
    assert "spark.jars" not in settings("local")
    assert "spark.sql.extensions" in settings("local", delta=True)
    assert "spark.sql.extensions" not in settings("local")


def test_executors_get_the_whole_package_without_what_was_compiled(tmp_path: Path) -> None:
    with zipfile.ZipFile(packed(tmp_path)) as archive:
        names = archive.namelist()
    assert f"ottla-{__version__}.zip" in [path.name for path in tmp_path.iterdir()]
    assert {"ottla/__init__.py", "ottla/pipelines/log4j2.properties"} <= set(names)
    assert [name for name in names if name.endswith(".pyc")] == []
