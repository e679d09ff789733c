"""What the pipeline commands are told: the file, the names in it, where state and jars are."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from ottla.cli.failure import fail
from ottla.pipelines.checking import check, notes
from ottla.pipelines.declaration import Folder, Pipeline, Source, Topic
from ottla.pipelines.folder import is_local
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.loading import chosen, load
from ottla.pipelines.mistakes import Mistake, Mistakes
from ottla.pipelines.reading.formats import FormatRefused, schema_of
from ottla.pipelines.running.state import DEFAULT_ROOT, StateFolder
from ottla.pipelines.session import session

File = Annotated[str, typer.Argument(metavar="FILE", help="Python or YAML that declares them.")]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]…", help="Only these; all without.")
]
OneName = Annotated[str, typer.Argument(metavar="NAME", help="The pipeline.")]
StateRoot = Annotated[
    str | None,
    typer.Option(
        "--state",
        envvar="OTTLA_PIPELINES",
        metavar="FOLDER",
        help="Where they keep checkpoints and ledgers; any path that Hadoop can reach.",
        show_default=DEFAULT_ROOT,
    ),
]
Jars = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", envvar="OTTLA_JARS", help="Where Spark's connector lies."),
]


def pairs(settings: list[str] | None) -> dict[str, str]:
    """Of `--conf KEY=VALUE`."""
    found = {}
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{setting!r} is not KEY=VALUE.", param_hint="--conf")
        found[key] = value
    return found


def pipelines_in(file: str, names: list[str] | None) -> list[Pipeline]:
    """Those that are asked for; ends the command if the file cannot be read."""
    try:
        return chosen(load(file), names or [])
    except Mistakes as found:
        tell(found.mistakes)


def state_of(root: str, name: str) -> StateFolder:
    return StateFolder(root, name, reaching(root))


def reaching(root: str) -> SparkSession | None:
    """A session for a folder that is not on this machine: what Hadoop reaches, Spark reaches."""
    if is_local(root):
        return None
    if (running := SparkSession.getActiveSession()) is not None:
        return running
    typer.echo(f"note: Spark is started to reach {root}.", err=True)
    return session(master="local[1]")


def checked(pipelines: list[Pipeline], cluster: Cluster | None) -> None:
    """Ends the command with all that is wrong; says what is worth knowing."""
    if found := check(pipelines, cluster, _schema_of):
        tell(found)
    for pipeline in pipelines:
        for note in notes(pipeline):
            typer.echo(f"note: {note}.", err=True)


def tell(mistakes: list[Mistake]) -> NoReturn:
    for mistake in mistakes:
        typer.echo(f"{mistake}.", err=True)
    count = len(mistakes)
    fail(f"{count} mistake{'s' * (count > 1)} to put right.")


def _schema_of(source: Source) -> StructType | None:
    """None where it cannot be told, or what is wrong with it is told elsewhere."""
    match source:
        case Topic():
            try:
                return schema_of(source.format)
            except FormatRefused:
                return None
        case Folder():
            return source.schema
        case _:
            return None
