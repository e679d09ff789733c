"""`ottla offsets`: where partitions begin and end, and deleting the records before an offset."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated

import typer

from ottla.admin import offsets as admin
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.offsets import EARLIEST, HIGH_WATERMARK, LATEST, MAX_TIMESTAMP, FoundOffset
from ottla.admin.topics import check_partitions, partitions_of
from ottla.cli.connecting import (
    DEFAULT_BOOTSTRAP,
    AsJson,
    Bootstrap,
    Yes,
    complete_topic,
    confirm,
    on_cluster,
    parse_partition,
)
from ottla.cli.moments import parse_moment, show_moment
from ottla.cli.outcomes import Outcomes, error_to_json, sentence
from ottla.cli.output import print_table, visible
from ottla.protocol.errors import KafkaError

offsets = typer.Typer(
    add_completion=False,
    help="Show where partitions begin and end; delete the records before an offset.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
_WORDS = {"earliest": EARLIEST, "latest": LATEST, "max-timestamp": MAX_TIMESTAMP}
Found = dict[TopicPartition, list[FoundOffset | KafkaError]]


Where = Annotated[
    list[str],
    typer.Argument(
        metavar="TOPIC[:PARTITION]...", autocompletion=complete_topic, show_default=False
    ),
]
At = Annotated[
    str,
    typer.Option(
        metavar="WHEN",
        help="earliest, latest, max-timestamp, or a time: the first record from then on.",
        show_default="earliest and latest",
    ),
]
ReadCommitted = Annotated[
    bool, typer.Option("--read-committed", help="Latest means before any open transaction.")
]


@offsets.command("get")
def get_command(
    where: Where,
    *,
    at: At = "",
    read_committed: ReadCommitted = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Show the first and the next offset of partitions, or the offset at a time.

    A time is milliseconds since 1970 or a date as `2026-01-31T12:00:00Z`. The objects of `--json`
    have the keys `topic`, `partition` and `error`, and `earliest` and `latest`; with `--at`
    instead `offset` and `timestamp`, null if no record is that late.

    Exit code: 0 shown; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla offsets get orders`
    - `ottla offsets get orders:0 --at 2026-01-31T12:00:00Z --json`
    """
    moments = [EARLIEST, LATEST]
    if at:
        moments = [_WORDS[at] if at in _WORDS else parse_moment(at)]

    async def find(cluster: Cluster) -> Found:
        partitions = await find_partitions(cluster, where)
        # Together: a partition without a leader is waited for once.
        answers = await asyncio.gather(
            *(
                admin.find(cluster, partitions, moment, read_committed=read_committed)
                for moment in moments
            )
        )
        return {each: [answer[each] for answer in answers] for each in partitions}

    found = on_cluster(bootstrap, find)
    if as_json:
        typer.echo(json.dumps([_to_json(*each) for each in found.items()], indent=2))
    else:
        _print(found, both=not at)
    if any(isinstance(answer, KafkaError) for answers in found.values() for answer in answers):
        raise typer.Exit(1)


async def find_partitions(cluster: Cluster, where: Sequence[str]) -> list[TopicPartition]:
    """`orders` is all of its partitions, `orders:0` one."""
    wanted: list[TopicPartition] = []
    for text in where:
        if ":" in text:
            partition = parse_partition(text)
            await check_partitions(cluster, [partition])
            wanted.append(partition)
        else:
            wanted += await partitions_of(cluster, [text])
    return list(dict.fromkeys(wanted))


@offsets.command("delete-records")
def delete_records(
    before: Annotated[
        list[str], typer.Argument(metavar="TOPIC:PARTITION=OFFSET...", show_default=False)
    ],
    *,
    yes: Yes = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Delete the records before an offset; `latest` deletes all. On a terminal you are asked first.

    The objects of `--json` have the keys `topic`, `partition`, `low_watermark` (where the
    partition begins now) and `error`.

    Exit code: 0 deleted; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla offsets delete-records orders:0=1500 orders:1=latest`
    """
    wanted = dict(_parse_deletion(text) for text in before)
    confirm(f"Delete the records before {', '.join(before)}?", yes=yes)

    async def delete(cluster: Cluster) -> dict[TopicPartition, int | KafkaError]:
        await check_partitions(cluster, list(wanted))
        return await admin.delete_records(cluster, wanted)

    results = on_cluster(bootstrap, delete)
    outcomes = Outcomes(as_json=as_json)
    for partition, result in results.items():
        told = {"topic": partition.topic, "partition": partition.partition}
        if isinstance(result, KafkaError):
            outcomes.refused({**told, "low_watermark": None}, str(partition), result)
        else:
            line = f"{partition} begins at offset {result} now."
            outcomes.done({**told, "low_watermark": result}, line)
    outcomes.finish()


def _parse_deletion(text: str) -> tuple[TopicPartition, int]:
    where, _, offset = text.rpartition("=")
    if offset != "latest" and not offset.isdecimal():
        raise typer.BadParameter(f"{text!r} is not TOPIC:PARTITION=OFFSET, as orders:0=1500 is.")
    return parse_partition(where), HIGH_WATERMARK if offset == "latest" else int(offset)


def _print(found: Found, *, both: bool) -> None:
    rows = []
    for (topic, index), answers in found.items():
        cells = []
        for answer in answers:
            if isinstance(answer, KafkaError):
                typer.echo(visible(f"ottla: {topic}-{index}: {sentence(answer)}"), err=True)
                break
            cells.append("none" if answer.offset is None else str(answer.offset))
        else:
            last = answers[-1]
            assert isinstance(last, FoundOffset)
            if not both:
                cells.append("-" if last.timestamp is None else show_moment(last.timestamp))
            rows.append((visible(topic), str(index), *cells))
    columns = ("earliest", "latest") if both else ("offset", "timestamp")
    if rows:
        print_table(("topic", "partition", *columns), rows)


def _to_json(
    partition: TopicPartition, answers: Sequence[FoundOffset | KafkaError]
) -> dict[str, object]:
    told: dict[str, object] = {"topic": partition.topic, "partition": partition.partition}
    refusals = [answer for answer in answers if isinstance(answer, KafkaError)]
    found = [answer for answer in answers if isinstance(answer, FoundOffset)]
    offsets = [each.offset for each in found] if not refusals else [None] * len(answers)
    if len(answers) > 1:
        told |= {"earliest": offsets[0], "latest": offsets[1]}
    else:
        told |= {"offset": offsets[0], "timestamp": found[0].timestamp if found else None}
    return {**told, "error": error_to_json(refusals[0]) if refusals else None}
