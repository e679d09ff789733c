"""`ottla groups reset`: moves where a group goes on, once it is told to do more than show it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from ottla.admin import group_offsets
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.groups import describe, unknown_group
from ottla.admin.resets import BadReset, Kind, Move, Target, plan, read_offsets, write_offsets
from ottla.admin.topics import check_partitions
from ottla.cli.connecting import (
    DEFAULT_BOOTSTRAP,
    AsJson,
    Bootstrap,
    complete_topic,
    on_cluster,
)
from ottla.cli.durations import parse_duration
from ottla.cli.failure import fail
from ottla.cli.group_names import OneGroup
from ottla.cli.group_output import known, members_in_words
from ottla.cli.moments import parse_moment
from ottla.cli.offsets import find_partitions
from ottla.cli.outcomes import count, error_to_json, sentence
from ottla.cli.output import print_table, visible
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.timing.clock import SystemClock

Refusals = Mapping[TopicPartition, KafkaError | None]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        "-t",
        metavar="TOPIC[:PARTITION]",
        help="Only this; repeat it.",
        show_default="all that the group has committed",
        autocompletion=complete_topic,
    ),
]
ToTime = Annotated[
    str, typer.Option(metavar="WHEN", help="The first record from then on.", show_default=False)
]
ToOffset = Annotated[int | None, typer.Option(min=0, help="This offset in each partition.")]
ShiftBy = Annotated[int | None, typer.Option(help="So many forward, or back if negative.")]
ByDuration = Annotated[
    str,
    typer.Option(
        metavar="HOW-LONG",
        help="So long before now: 90s, 15m, 1d12h, or PT15M.",
        show_default=False,
    ),
]
ToEarliest = Annotated[bool, typer.Option("--to-earliest", help="All that is there, again.")]
ToLatest = Annotated[bool, typer.Option("--to-latest", help="Only what comes from now on.")]
FromFile = Annotated[
    typer.FileText | None, typer.Option(help="Lines topic,partition,offset; - is stdin.")
]
Execute = Annotated[bool, typer.Option("--execute", help="Do it. Without this nothing changes.")]
Export = Annotated[
    bool, typer.Option("--export", help="Print the new offsets as --from-file reads them.")
]


HELP = """Move where a group goes on reading. Without `--execute` it only shows what would change.

What lies outside of a partition becomes its beginning or its end. Members would overwrite it,
so the group must have none. The objects of `--json` have the keys `group`, `topic`,
`partition`, `before` (null if nothing was committed), `after`, `lag_after`, `executed` and
`error`.

Exit code: 0 done, or shown; 1 refused; 2 wrong call.

Examples:

- `ottla groups reset billing --to-time 2026-01-31T12:00:00Z`
- `ottla groups reset billing -t orders:0 --shift-by -100 --execute`
- `ottla groups reset billing --to-latest --export > offsets.csv`
"""


def reset(
    group: OneGroup,
    *,
    topic: Where = None,
    to_time: ToTime = "",
    to_offset: ToOffset = None,
    shift_by: ShiftBy = None,
    by_duration: ByDuration = "",
    to_earliest: ToEarliest = False,
    to_latest: ToLatest = False,
    from_file: FromFile = None,
    execute: Execute = False,
    export: Export = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    given = {
        "--to-time": to_time and (Kind.TIME, parse_moment(to_time)),
        "--to-offset": to_offset is not None and (Kind.OFFSET, to_offset),
        "--shift-by": shift_by is not None and (Kind.SHIFT, shift_by),
        "--by-duration": by_duration and (Kind.TIME, _before_now(by_duration)),
        "--to-earliest": to_earliest and (Kind.EARLIEST, 0),
        "--to-latest": to_latest and (Kind.LATEST, 0),
    }
    target = _target(group, {name: each for name, each in given.items() if each}, from_file)
    try:
        moves, refusals = on_cluster(
            bootstrap, lambda cluster: _reset(cluster, group, topic, target, execute=execute)
        )
    except BadReset as cause:
        fail(f"{cause}.")
    if export:
        typer.echo(write_offsets(moves), nl=False)
    elif as_json:
        told = [_to_json(group, each, refusals, execute=execute) for each in moves]
        typer.echo(json.dumps(told, indent=2))
    else:
        _print(group, moves, refusals, execute=execute)
    if any(refusals.values()):
        raise typer.Exit(1)


def _before_now(text: str) -> int:
    return max(0, SystemClock().now_ms() - parse_duration(text))


def _target(
    group: str, given: Mapping[str, tuple[Kind, int]], file: typer.FileText | None
) -> Target | Mapping[TopicPartition, int]:
    names = [*given, *(["--from-file"] if file else [])]
    if len(names) != 1:
        said = f"{' and '.join(names)} exclude each other" if names else "nothing says where to"
        raise typer.BadParameter(
            f"{said}: give one of --to-time, --to-offset, --shift-by, --by-duration, "
            "--to-earliest, --to-latest and --from-file."
        )
    if file is None:
        (target,) = given.values()
        return Target(*target)
    try:
        return read_offsets(file, group)
    except BadReset as cause:
        raise typer.BadParameter(f"{cause}.", param_hint="--from-file") from cause


async def _reset(
    cluster: Cluster,
    name: str,
    where: Sequence[str] | None,
    target: Target | Mapping[TopicPartition, int],
    *,
    execute: bool,
) -> tuple[list[Move], Refusals]:
    group = await describe(cluster, name)
    if not group.may_be_changed_from_outside:
        members = members_in_words(group)
        detail = f"the group {name!r} is {group.state} and has {members}. Stop them, or wait until "
        detail += "their sessions time out; then try again."
        raise KafkaError(ErrorCode.NON_EMPTY_GROUP, detail)
    committed = {
        partition: each.offset
        for partition, each in (await group_offsets.committed(cluster, name)).items()
    }
    named = await find_partitions(cluster, where or ())
    if isinstance(target, Mapping):
        partitions = [each for each in target if not named or each in named]
    elif not group.exists and not named:
        raise await unknown_group(cluster, name)
    else:
        partitions = named or list(committed)
    await check_partitions(cluster, partitions)
    moves = await plan(cluster, partitions, committed, target)
    changed = {each.partition: each.after for each in moves if each.after != each.before}
    refusals = await group_offsets.commit(cluster, name, changed) if execute and changed else {}
    return moves, refusals


def _print(group: str, moves: Sequence[Move], refusals: Refusals, *, execute: bool) -> None:
    if not moves:
        typer.echo(visible(f"{group} has committed nothing that could be moved; name a --topic."))
        return
    columns = ("topic", "partition", "before", "after", "lag then", "change")
    print_table(columns, [_row(each, refusals.get(each.partition)) for each in moves])
    number = sum(each.after != each.before for each in moves)
    done = number - sum(each is not None for each in refusals.values())
    if execute:
        typer.echo(visible(f"{group} goes on from there in {count(done, 'partition')}."))
    elif number:
        typer.echo("Nothing is changed yet: say --execute to do it.", err=True)


def _row(move: Move, refused: KafkaError | None) -> tuple[str, ...]:
    if refused is not None:
        change = f"refused: {sentence(refused)}"
    elif move.before is None:
        change = "new"
    else:
        change = f"{move.after - move.before:+}" if move.after != move.before else "none"
    if move.after != move.wanted:
        change += f" ({move.wanted} is not there)"
    return (
        visible(move.partition.topic),
        str(move.partition.partition),
        known(move.before),
        str(move.after),
        str(move.lag_after),
        change,
    )


def _to_json(group: str, move: Move, refusals: Refusals, *, execute: bool) -> dict[str, object]:
    refused = refusals.get(move.partition)
    return {
        "group": group,
        "topic": move.partition.topic,
        "partition": move.partition.partition,
        "before": move.before,
        "after": move.after,
        "lag_after": move.lag_after,
        "executed": execute and refused is None,
        "error": error_to_json(refused) if refused else None,
    }
