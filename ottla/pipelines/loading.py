"""From a file to the pipelines that it declares: Python, or YAML with SQL."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from ottla.pipelines.declaration import Pipeline
from ottla.pipelines.mistakes import Mistake, Mistakes
from ottla.pipelines.yaml_file import read_yaml


def load(path: str) -> list[Pipeline]:
    """In the order of the file. Mistakes, if it cannot be read or declares none."""
    file = Path(path)
    if not file.is_file():
        raise Mistakes([Mistake(path, "there is no such file", "give a .py or .yaml file")])
    if file.suffix in (".yaml", ".yml"):
        found = read_yaml(path, file.read_text(encoding="utf-8"))
    else:
        found = [value for value in vars(_module(file)).values() if isinstance(value, Pipeline)]
    if not found:
        fix = "decorate a function with @pipeline(source=…, sink=…)"
        raise Mistakes([Mistake(path, "it declares no pipeline", fix)])
    _refuse_twins(path, found)
    return found


def chosen(pipelines: list[Pipeline], names: list[str]) -> list[Pipeline]:
    """All, if no name is given."""
    by_name = {pipeline.name: pipeline for pipeline in pipelines}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        fix = f"there are: {', '.join(by_name)}"
        raise Mistakes([Mistake("", f"no pipeline is called {name}", fix) for name in unknown])
    return [by_name[name] for name in names] if names else pipelines


def _module(file: Path) -> ModuleType:
    # Executors find its functions by value, so the name only has to be new.
    name = f"ottla_pipelines_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their own module up
    sys.path.insert(0, str(file.parent.absolute()))  # what lies beside it can be imported
    try:
        spec.loader.exec_module(module)
    except Exception as cause:
        raise Mistakes([_in_module(file, cause)]) from cause
    return module


def _in_module(file: Path, cause: Exception) -> Mistake:
    """At the deepest line of the file itself: what it called is not at fault."""
    if isinstance(cause, SyntaxError):
        return Mistake(f"{file}:{cause.lineno}", f"{cause.msg}", "Python cannot read this line")
    frames = traceback.extract_tb(cause.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    place = f"{file}:{lines[-1]}" if lines else str(file)
    return Mistake(place, f"{type(cause).__name__}: {cause}", "the file must be importable")


def _refuse_twins(path: str, pipelines: list[Pipeline]) -> None:
    seen: dict[str, Pipeline] = {}
    for pipeline in pipelines:
        if pipeline.name in seen:
            raise Mistakes(
                [
                    Mistake(
                        pipeline.place or path,
                        f"two pipelines are called {pipeline.name}",
                        "give one of them another name=",
                    )
                ]
            )
        seen[pipeline.name] = pipeline
