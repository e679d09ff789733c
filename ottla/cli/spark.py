"""`ottla spark`: what pipelines need of this machine, and fetching it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ottla.cli.failure import fail
from ottla.cli.output import print_table, visible
from ottla.cli.progress import Counter
from ottla.pipelines.doctor import Health, examine
from ottla.pipelines.jars import CONNECTOR, DELTA, VARIABLE, JarsMissing, folder_of_jars, have

spark = typer.Typer(
    add_completion=False,
    help="See what pipelines need of this machine, and fetch Spark's jars.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JarFolder = Annotated[
    str | None,
    typer.Option(
        "--folder",
        metavar="DIR",
        help=f"Where the jars are, if not in {VARIABLE} or the cache.",
    ),
]


@spark.command()
def doctor(*, folder: JarFolder = None, as_json: AsJson = False) -> None:
    """Look whether pipelines can run here: Java, the Python packages, jars, memory.

    Nothing is fetched or started. What is not right comes with its fix. `limited` means that
    pipelines run, but not all, or slower. The objects of `--json` have the keys `what`, `found`,
    `health` (`good`, `limited`, `broken`) and `fix`, a sentence, empty if all is good.

    Exit code: 0 pipelines can run; 1 they cannot; 2 wrong call.

    Examples:

    - `ottla spark doctor`
    - `ottla spark doctor --json`
    """
    findings = examine(folder=folder)
    if as_json:
        typer.echo(json.dumps([each._asdict() for each in findings], indent=2))
    else:
        rows = [(each.what, each.health, visible(each.found)) for each in findings]
        print_table(("what", "health", "found"), rows)
        for each in findings:
            if each.fix:
                typer.echo(visible(f"{each.what}: {each.fix}"))
    if any(each.health is Health.BROKEN for each in findings):
        raise typer.Exit(1)


@spark.command()
def jars(*, folder: JarFolder = None, as_json: AsJson = False) -> None:
    """Fetch the jars of Spark's Kafka connector and of Delta with Maven, and check them.

    Those that are there are only checked, so that a second call needs neither Maven nor network.
    A machine without them can be given the folder. `--json` prints the list of the files.

    Exit code: 0 all there; 1 one cannot be had, or is not what it should be; 2 wrong call.

    Examples:

    - `ottla spark jars`
    - `ottla spark jars --folder ./jars`
    """
    wanted = (*CONNECTOR, *DELTA)
    try:
        with Counter("jars", total=len(wanted)) as counter:
            paths = have(wanted, folder=folder, on_progress=lambda done, _: counter.show(done))
    except JarsMissing as cause:
        fail(visible(f"{cause}."))
    if as_json:
        typer.echo(json.dumps(paths, indent=2))
    else:
        place = folder_of_jars(folder)
        typer.echo(visible(f"{len(paths)} jars are in {place}, each with its right sha256."))
