"""Files that declare pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipelines.loading import chosen, load
from ottla.pipelines.mistakes import Mistakes

HEAD = "from ottla.pipelines.declare import console, pipeline, topic\n"
ONE = """
@pipeline(source=topic("a"), sink=console())
def first_one(events):
    return events
"""


def refusal(path: Path) -> str:
    with pytest.raises(Mistakes) as refused:
        load(str(path))
    return str(refused.value)


def written(folder: Path, text: str, name: str = "p.py") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_function_is_named_for_its_pipeline(tmp_path: Path) -> None:
    (found,) = load(str(written(tmp_path, HEAD + ONE)))
    assert found.name == "first-one"
    assert found.group == "pipeline.first-one"
    assert found.place == f"{tmp_path}/p.py:3"


def test_what_lies_beside_the_file_can_be_imported(tmp_path: Path) -> None:
    written(tmp_path, "NAME = 'beside'", "beside_it.py")
    text = f"from beside_it import NAME\n{HEAD}{ONE}".replace("sink=", "name=NAME, sink=")
    assert load(str(written(tmp_path, text)))[0].name == "beside"


def test_one_of_several_is_chosen_by_name(tmp_path: Path) -> None:
    found = load(str(written(tmp_path, HEAD + ONE + ONE.replace("first", "second"))))
    assert [pipeline.name for pipeline in chosen(found, [])] == ["first-one", "second-one"]
    assert [pipeline.name for pipeline in chosen(found, ["second-one"])] == ["second-one"]
    with pytest.raises(Mistakes, match="no pipeline is called third"):
        chosen(found, ["third"])


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    text = (
        HEAD + ONE + ONE.replace("first_one", "other").replace("sink=", "name='first-one', sink=")
    )
    assert "two pipelines are called first-one" in refusal(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1", "it declares no pipeline; decorate a function"),
        ("x = \n", "p.py:1: invalid syntax"),
        ("\nraise ValueError('no')", "p.py:2: ValueError: no"),
        ("\nimport not_there_at_all", "p.py:2: ModuleNotFoundError: No module named"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    assert told in refusal(written(tmp_path, text))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.py").endswith("there is no such file; give a .py or .yaml file")


def test_a_yaml_file_is_read_as_such(tmp_path: Path) -> None:
    text = "pipelines: {copy: {source: {topic: a}, sink: console}}"
    assert load(str(written(tmp_path, text, "p.yaml")))[0].name == "copy"
