"""`ottla pipeline new`: a pipeline to begin with, and its test."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.failure import fail
from ottla.cli.output import visible

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PIPELINE = '''\
"""{name}: events from a topic into a folder of Parquet, those without a user set aside."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from ottla.pipelines.declare import json, not_null, parquet, pipeline, topic


@dataclass
class Event:
    id: str
    user_id: str | None
    amount: float | None


@pipeline(
    name="{name}",
    source=topic("{name}", format=json(Event)),
    sink=parquet("lake/{name}"),
    contract=[not_null("user_id")],
    dead_letters=topic("{name}.dlq"),
)
def {module}(events: DataFrame) -> DataFrame:
    return events.where("amount > 0")
'''
_TEST = '''\
"""`pytest {test}`. The first two tests need no broker; the last starts one of its own."""

from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from ottla.pipelines.declare import memory
from ottla.testing.broker import Broker
from ottla.testing.pipelines import run_on_broker, run_on_rows

from {module} import {module}

EVENT = {{"id": "1", "user_id": "ann", "amount": 9.5}}


def test_only_events_with_an_amount_go_on(ottla_spark: SparkSession) -> None:
    free = EVENT | {{"amount": 0.0}}
    assert run_on_rows({module}, ottla_spark, [EVENT, free]).rows == [EVENT]


def test_what_breaks_the_contract_is_a_dead_letter(ottla_spark: SparkSession) -> None:
    outcome = run_on_rows({module}, ottla_spark, [EVENT | {{"user_id": None}}, b"poison"])
    assert outcome.rows == []
    assert [letter.rule for letter in outcome.dead_letters] == ["not_null(user_id)", "malformed"]


def test_end_to_end(ottla: Broker, ottla_spark: SparkSession, tmp_path: Path) -> None:
    tried = replace({module}, sink=memory("tried"))
    status = run_on_broker(tried, ottla_spark, ottla, [EVENT, b"poison"], folder=tmp_path)
    assert [row.asDict() for row in ottla_spark.table("tried").collect()] == [EVENT]
    assert status.dead_letters == 1
'''


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As its topic: page-views.")],
    *,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Where the files go.", file_okay=False)
    ] = Path(),
) -> None:
    """Write a pipeline to begin with, and its test.

    Files that are there already are left alone, and nothing is written.

    Exit code: 0 written; 1 a file is there already; 2 wrong call.

    Examples:

    - `ottla pipeline new page-views`
    - `ottla pipeline new page-views --folder pipelines`
    """
    module = name.replace("-", "_")
    if not _NAME.fullmatch(name) or keyword.iskeyword(module):
        hint = "small letters and digits, with hyphens between them: page-views"
        raise typer.BadParameter(f"{name!r} is no name; a name is {hint}", param_hint="NAME")
    files = {folder / f"{module}.py": _PIPELINE, folder / f"test_{module}.py": _TEST}
    if found := [path for path in files if path.exists()]:
        fail(visible(f"{found[0]} is there already. Choose another NAME or --folder."))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            words = text.format(name=name, module=module, test=f"test_{module}.py")
            path.write_text(words, encoding="utf-8")
    except OSError as cause:
        fail(visible(f"{cause}."))
    pipeline, test = files
    typer.echo(visible(f"{pipeline} and {test} are written. Next: `pytest {test}`,"))
    typer.echo(visible(f"`ottla pipeline check {pipeline}`, `ottla pipeline run {pipeline}`."))
