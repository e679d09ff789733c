"""`ottla consume`: the records of a topic, printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import typer

from ottla.admin import confluent
from ottla.admin.avro import AvroWriter
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.confluent import POLLED_AT_ONCE, ClientFailed, ConfluentSource, Settings
from ottla.admin.consuming import (
    IncomingRecord,
    batches,
    check_groups,
    next_offsets,
    offsets_before_end,
    starting_offsets,
)
from ottla.admin.extras import MissingExtra
from ottla.admin.json_records import to_json_line
from ottla.admin.offsets import EARLIEST, LATEST
from ottla.admin.pace import Pace
from ottla.admin.topics import check_partitions, partitions_of
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, complete_topic, on_cluster
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.cli.moments import parse_moment
from ottla.cli.record_format import BadFormat, Writer, by_template
from ottla.timing.clock import Stopwatch

consume = typer.Typer(add_completion=False, rich_markup_mode="markdown")

Topic = Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=complete_topic)]
Partitions = Annotated[
    list[int] | None, typer.Option("--partition", "-p", min=0, help="Only this; repeat it.")
]
FromBeginning = Annotated[
    bool, typer.Option("--from-beginning", help="All that is there, not only what comes.")
]
Offset = Annotated[
    int | None,
    typer.Option("--offset", "-o", help="From here on; -5 begins at the fifth last."),
]
FromTime = Annotated[
    str,
    typer.Option(
        "--from-time", "--timestamp", metavar="WHEN", help="From then on.", show_default=False
    ),
]
MaxMessages = Annotated[
    int | None, typer.Option("--max-messages", "-n", min=1, help="Stop after so many.")
]
Exit = Annotated[bool, typer.Option("--exit", "-e", help="Stop where the partitions end.")]
Group = Annotated[
    str,
    typer.Option(
        "--group", "-g", help="As a member of this group, from where it is.", show_default=False
    ),
]
ReadUncommitted = Annotated[
    bool, typer.Option("--read-uncommitted", help="Also open and aborted transactions.")
]
Format = Annotated[str, typer.Option("--format", "-f", help="How a record looks; see above.")]
Rate = Annotated[
    float | None, typer.Option(min=0.1, metavar="PER-SECOND", help="No more records than this.")
]
AsHex = Annotated[bool, typer.Option("--hex", help="Keys and values in hexadecimal.")]
ToAvro = Annotated[
    typer.FileBinaryWrite | None,
    typer.Option("--avro", metavar="FILE", help="Write the records into this Avro file."),
]


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin: at an offset (counted from the end if negative), else at a time."""

    partitions: tuple[int, ...]
    offset: int | None
    moment: int

    async def positions(self, cluster: Cluster, topic: str) -> dict[TopicPartition, int]:
        places = [TopicPartition(topic, index) for index in self.partitions]
        await check_partitions(cluster, places)
        places = places or await partitions_of(cluster, [topic])
        if self.offset is None:
            return await starting_offsets(cluster, places, self.moment)
        if self.offset < 0:
            return await offsets_before_end(cluster, places, -self.offset)
        return dict.fromkeys(places, self.offset)


_HELP = r"""Print the records of a topic, from now on or from where you say. Ctrl-C ends it.

A `--format` may have `{topic}`, `{partition}`, `{offset}`, `{timestamp}` (ms since 1970),
`{key}`, `{value}`, `{headers}`, `\n` and `\t`. WHEN is such ms, or a date as
`2026-01-31T12:00:00Z`. With `--json` each line is an object with `topic`, `partition`,
`offset`, `timestamp`, `timestamp_type`, `key`, `value` and `headers`, a list of objects with
`name` and `value`; bytes that are no text are an object with `base64`. An Avro file keeps the
same, and `ottla produce` reads both again. With `--group` partitions are shared with the other
members, and what is printed is committed; without it nothing is. Needs
`pip install 'ottla[cli]'`.

Exit code: 0 ended as asked, or by Ctrl-C; 1 failed; 2 wrong call.

Examples:

- `ottla consume orders --from-beginning --exit --json`
- `ottla consume orders -p 0 -o -10 -f '{offset} {key}: {value}'`
- `ottla consume orders --from-time 2026-01-31T12:00:00Z --rate 50`
- `ottla consume orders --group audit --avro orders.avro --exit`
"""


@consume.command(help=_HELP)
def consume_command(
    topic: Topic,
    *,
    partition: Partitions = None,
    from_beginning: FromBeginning = False,
    offset: Offset = None,
    from_time: FromTime = "",
    max_messages: MaxMessages = None,
    stop_at_end: Exit = False,
    group: Group = "",
    read_uncommitted: ReadUncommitted = False,
    template: Format = "{value}",
    rate: Rate = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    as_hex: AsHex = False,
    to_avro: ToAvro = None,
) -> None:
    _check_call(group, partition or (), from_beginning, offset, from_time)
    if as_json + as_hex + (to_avro is not None) > 1:
        raise typer.BadParameter("--json, --hex and --avro exclude each other.")
    moment = parse_moment(from_time) if from_time else EARLIEST if from_beginning else LATEST
    start = None if group else Start(tuple(partition or ()), offset, moment)
    writer = to_json_line if as_json else _by_template(template, in_hex=as_hex)
    settings: Settings = {
        "bootstrap.servers": bootstrap,
        "isolation.level": "read_uncommitted" if read_uncommitted else "read_committed",
        **_group_settings(group, from_beginning=from_beginning),
    }
    try:
        output = _Output(writer, to_avro)
        source = _source(bootstrap, topic, start, settings, Pace(rate))
        with closing(source), closing(output):
            _copy(source, output, Pace(rate), at_most=max_messages, stop_at_end=stop_at_end)
    except (MissingExtra, ClientFailed) as cause:
        fail(f"{cause}.")


def _source(
    bootstrap: str, topic: str, start: Start | None, settings: Settings, pace: Pace
) -> ConfluentSource:
    confluent.load()  # before the cluster is asked: it is the first thing to put right
    if start is None:
        on_cluster(bootstrap, check_groups)
        on_cluster(bootstrap, lambda cluster: partitions_of(cluster, [topic]))
        source = ConfluentSource(settings, _warn, polled_at_once=pace.at_once(POLLED_AT_ONCE))
        source.subscribe(topic)
    else:
        positions = on_cluster(bootstrap, lambda cluster: start.positions(cluster, topic))
        source = ConfluentSource(settings, _warn, polled_at_once=pace.at_once(POLLED_AT_ONCE))
        source.assign(positions)
    return source


def _warn(trouble: str) -> None:
    typer.echo(f"ottla: {trouble}. Trying again; Ctrl-C ends it.", err=True)


class _Output:
    """The terminal or a pipe, unless there is a file."""

    def __init__(self, writer: Writer, file: typer.FileBinaryWrite | None) -> None:
        self._writer = writer
        self._avro = AvroWriter(file) if file else None

    def write(self, records: Sequence[IncomingRecord]) -> None:
        if self._avro:
            self._avro.write(records)
        else:
            typer.echo(b"".join(map(self._writer, records)), nl=False)

    def close(self) -> None:
        if self._avro:
            self._avro.close()


def _copy(
    source: ConfluentSource, output: _Output, pace: Pace, *, at_most: int | None, stop_at_end: bool
) -> None:
    done, stopwatch = 0, Stopwatch()
    with Interruption() as interruption:  # the usual way to end it
        found = batches(
            source,
            at_most=at_most,
            stop_at_end=stop_at_end,
            is_stopped=lambda: interruption.requested,
        )
        for records in found:
            output.write(records)
            source.store(next_offsets(records))
            done += len(records)
            interruption.wait(pace.wait_s(done=done, elapsed_s=stopwatch.elapsed_s()))


def _group_settings(group: str, *, from_beginning: bool) -> dict[str, str | bool]:
    # Only what was printed is committed, not all that the library has read.
    own: dict[str, str | bool] = {"enable.auto.offset.store": False}
    if group:
        reset = "earliest" if from_beginning else "latest"
        return {**own, "group.id": group, "auto.offset.reset": reset}
    # The library wants a group's name, and has no use for it where partitions are assigned.
    return {**own, "group.id": "ottla", "enable.auto.commit": False, "auto.offset.reset": "error"}


def _check_call(
    group: str,
    partitions: Sequence[int],
    from_beginning: bool,
    offset: int | None,
    from_time: str,
) -> None:
    given = {
        "--from-beginning": from_beginning,
        "--offset": offset is not None,
        "--from-time": bool(from_time),
    }
    begins = [name for name, is_given in given.items() if is_given]
    if len(begins) > 1:
        raise typer.BadParameter(f"{' and '.join(begins)} exclude each other.")
    if group and (partitions or begins not in ([], ["--from-beginning"])):
        raise typer.BadParameter(
            "a group gives out partitions and knows where it is: --partition, --offset and "
            "--from-time do not go with --group. `ottla groups reset` moves it."
        )
    if offset is not None and offset >= 0 and not partitions:
        raise typer.BadParameter("--offset needs --partition: each partition has its own offsets.")


def _by_template(template: str, *, in_hex: bool) -> Writer:
    try:
        return by_template(template, for_terminal=sys.stdout.isatty(), in_hex=in_hex)
    except BadFormat as cause:
        raise typer.BadParameter(str(cause), param_hint="--format") from cause
