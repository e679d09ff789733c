"""`ottla pipeline audit`: proves that a pipeline lost nothing, or that one topic equals another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from ottla.cli.audit_output import (
    comparison_to_json,
    findings_to_json,
    print_comparison,
    print_findings,
)
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap
from ottla.cli.failure import fail
from ottla.cli.moments import parse_moment
from ottla.cli.output import print_json
from ottla.cli.pipeline_clusters import in_sentences, reach
from ottla.cli.pipeline_names import reaching
from ottla.cli.progress import Counter
from ottla.pipelines.folder import Folder, open_folder
from ottla.pipelines.kafka import Place
from ottla.pipelines.repair.audit import Findings, Recount, audit
from ottla.pipelines.repair.entry import Entry
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.repair.topic_compare import EVER_MS, FOREVER_MS, compare_topics, recount

DEFAULT_STATE = "ottla-pipelines"
_GENERATION = "generation-"

Name = Annotated[str, typer.Argument(metavar="[NAME]", help="Of the pipeline.", show_default=False)]
From = Annotated[
    str, typer.Option("--from", metavar="WHEN", help="From then on.", show_default=False)
]
To = Annotated[str, typer.Option("--to", metavar="WHEN", help="Up to then.", show_default=False)]
Compare = Annotated[
    tuple[str, str] | None,
    typer.Option("--compare", metavar="TOPIC TOPIC", help="Compare these two instead."),
]
DoRecount = Annotated[
    bool, typer.Option("--recount", help="Read again where offsets held no record.")
]
Generation = Annotated[
    int | None,
    typer.Option(min=0, help="What ran before a reset.", show_default="the newest"),
]
State = Annotated[
    str,
    typer.Option(
        "--state", envvar="OTTLA_PIPELINES", metavar="FOLDER", help="Where pipelines keep it."
    ),
]


@in_sentences
def audit_command(
    name: Name = "",
    *,
    compare: Compare = None,
    from_time: From = "",
    to_time: To = "",
    recount_gaps: DoRecount = False,
    generation: Generation = None,
    state: State = DEFAULT_STATE,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Prove that every record in came out, is a dead letter, or was dropped by a rule.

    Looks at the batches that began in that time: each must read on where the one before ended, and
    every minute of every partition must add up. The first batch that does not hold is named with
    its numbers. Offsets that held no record (ends of transactions, compaction) are said;
    `--recount` reads the topic again there. With `--compare` two topics are read, and the records
    and the checksums of their keys are compared minute by minute of their timestamps.

    The object of `--json` has `pipeline`, `generation`, `holds`, `fault`, `batches`, `first_batch`,
    `last_batch`, `in`, `passed`, `dead`, `dropped`, `rows_out`, `filtered`, `partitions`,
    `minutes`, `gaps` and `losses`; that of `--compare` has `left`, `right`, `equal` and
    `differences`.

    Exit code: 0 it holds, or they are equal; 1 it does not, or there was nothing to look at;
    2 wrong call.

    Examples:

    - `ottla pipeline audit page-views`
    - `ottla pipeline audit page-views --from 2026-01-31T12:00:00Z --recount --json`
    - `ottla pipeline audit --compare page-views page-views.copy --to 2026-02-01`
    """
    if bool(name) == (compare is not None):
        raise typer.BadParameter("give the name of a pipeline, or --compare TOPIC TOPIC.")
    from_ms = parse_moment(from_time) if from_time else EVER_MS
    to_ms = parse_moment(to_time) if to_time else FOREVER_MS
    if compare is not None:
        _compare(compare, from_ms=from_ms, to_ms=to_ms, bootstrap=bootstrap, as_json=as_json)
        return
    number, folder = _ledger_folder(state, name, generation)
    counted = _recount(bootstrap) if recount_gaps else None
    found = _audit(Ledger(folder), from_ms=from_ms, to_ms=to_ms, recount=counted)
    _tell(name, number, found, as_json=as_json)


def _tell(name: str, generation: int, found: Findings, *, as_json: bool) -> None:
    if not found.batches and found.holds:
        fail(f"no batch of {name} began in that time: there is nothing to prove.")
    if as_json:
        print_json([{"pipeline": name, "generation": generation, **findings_to_json(found)}])
    else:
        print_findings(name, found)
    if not found.holds:
        raise typer.Exit(1)


def _audit(ledger: Ledger, *, from_ms: int, to_ms: int, recount: Recount | None) -> Findings:
    with Counter("batches") as counter:
        entries = _counted(ledger.entries(from_ms, to_ms), counter)
        return audit(entries, ledger.accepted_losses(), recount=recount)


def _counted(entries: Iterable[Entry], counter: Counter) -> Iterator[Entry]:
    for number, entry in enumerate(entries):
        counter.show(number)
        yield entry


def _recount(bootstrap: str) -> Recount:
    cluster = reach(bootstrap)

    def count(place: Place, start: int, end: int) -> int | None:
        return recount(cluster, place, start, end)

    return count


def _compare(
    topics: tuple[str, str], *, from_ms: int, to_ms: int, bootstrap: str, as_json: bool
) -> None:
    left, right = topics
    cluster = reach(bootstrap)
    with Counter("records") as counter:
        found = compare_topics(
            cluster,
            left=left,
            right=right,
            from_ms=from_ms,
            to_ms=to_ms,
            on_progress=counter.show,
        )
    if as_json:
        print_json([comparison_to_json(left, right, found)])
    else:
        print_comparison(left, right, found)
    if found.differences:
        raise typer.Exit(1)


def _ledger_folder(state: str, name: str, generation: int | None) -> tuple[int, Folder]:
    spark = reaching(state)
    root = open_folder(f"{state}/{name}", spark)
    folders = [each for each in root.names() if each.startswith(_GENERATION)]
    numbers = [each.removeprefix(_GENERATION) for each in folders]
    there = sorted(int(number) for number in numbers if number.isdecimal())
    if not there:
        fail(f"{root.path} holds no pipeline: has it run, and is --state the right folder?")
    if generation is not None and generation not in there:
        fail(f"{name} has no generation {generation}: there are {', '.join(map(str, there))}.")
    number = there[-1] if generation is None else generation
    return number, open_folder(f"{root.path}/{_GENERATION}{number}/ledger", spark)
