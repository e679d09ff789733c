"""`ottla pipeline new`: two files that can be read, and nothing of anybody's overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ottla.cli.pipeline_new import new
from ottla.pipelines.declaration import Topic
from ottla.pipelines.loading import load
from tests.unit.cli.commands import told

command = typer.Typer(add_completion=False)
command.command()(new)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_the_pipeline_it_writes_can_be_loaded(tmp_path: Path) -> None:
    result = run("page-views", "--folder", str(tmp_path / "new"))
    assert result.exit_code == 0
    assert f"pytest {tmp_path}/new/test_page_views.py" in result.stdout
    (pipeline,) = load(str(tmp_path / "new" / "page_views.py"))
    (source,) = pipeline.sources
    assert isinstance(source, Topic)
    assert (pipeline.name, source.name) == ("page-views", "page-views")
    test = (tmp_path / "new" / "test_page_views.py").read_text(encoding="utf-8")
    compile(test, "test_page_views.py", "exec")


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_orders.py").write_text("mine", encoding="utf-8")
    result = run("orders", "--folder", str(tmp_path))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "test_orders.py is there already" in told(result)
    assert [path.name for path in tmp_path.iterdir()] == ["test_orders.py"]


@pytest.mark.parametrize("name", ["Page", "a b", "../a", "class", "-a", "a--b", ""])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    result = run("--folder", str(tmp_path), "--", name)
    assert result.exit_code == 2
    assert "is no name" in told(result)
    assert list(tmp_path.iterdir()) == []
