"""`ottla produce`: lines, objects or the rows of an Avro file become records of a topic."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Annotated

import typer

from ottla.admin import avro, confluent
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.confluent import ClientFailed, ConfluentSender, Settings
from ottla.admin.extras import MissingExtra
from ottla.admin.json_records import JsonFormat
from ottla.admin.pace import Pace
from ottla.admin.producing import (
    BadLine,
    Delivery,
    LineFormat,
    OutgoingRecord,
    flush,
    parse_lines,
    send_all,
)
from ottla.admin.topics import check_partitions, describe
from ottla.cli.connecting import (
    DEFAULT_BOOTSTRAP,
    Bootstrap,
    complete_topic,
    on_cluster,
)
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.cli.outcomes import count
from ottla.cli.output import visible
from ottla.cli.progress import Counter
from ottla.timing.clock import Stopwatch

produce = typer.Typer(add_completion=False, rich_markup_mode="markdown")
_STOPPED = "stopped"
_INTERRUPTED = 130
# Where the records come from, up to Ctrl-C.
Records = Callable[[Interruption], Iterable[OutgoingRecord]]


class Acks(StrEnum):
    ALL = "all"
    ONE = "1"
    NONE = "0"


class Compression(StrEnum):
    NONE = "none"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


Topic = Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=complete_topic)]
KeySeparator = Annotated[
    str,
    typer.Option("--key-separator", "-k", help="Lines are KEY, this, VALUE.", show_default=False),
]
Headers = Annotated[
    list[str] | None,
    typer.Option("--header", "-H", metavar="NAME=VALUE", help="On each record; repeat it."),
]
Null = Annotated[
    str | None, typer.Option(metavar="TEXT", help="A key or value that is this is null.")
]
Partition = Annotated[
    int | None, typer.Option("--partition", "-p", min=0, help="All records into this one.")
]
AcksOption = Annotated[Acks, typer.Option(help="Who must have a record before it counts.")]
CompressionOption = Annotated[Compression, typer.Option(help="Of the batches.")]
Idempotence = Annotated[
    bool | None,
    typer.Option(
        help="Nothing twice and nothing out of order, even after a broken connection.",
        show_default="with acks all",
    ),
]
Timeout = Annotated[
    int, typer.Option(min=1, metavar="SECONDS", help="After this a record has failed.")
]
Rate = Annotated[
    float | None, typer.Option(min=0.1, metavar="PER-SECOND", help="No more records than this.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Lines are objects, as consume prints them.")]
AsHex = Annotated[bool, typer.Option("--hex", help="Keys and values are hexadecimal.")]
FromAvro = Annotated[
    typer.FileBinaryRead | None,
    typer.Option("--avro", metavar="FILE", help="Instead of lines, the rows of an Avro file."),
]


_HELP = """Send each line of stdin as a record.

With `--json` a line is an object with `value` and, if you like, `key`, `headers` and
`timestamp`, as `ottla consume --json` prints it; a value that is neither text nor null is sent
as JSON. An Avro file that `ottla consume --avro` wrote is restored; of any other each row is
sent as JSON. A key goes to the same partition as with Kafka's Java client. Ctrl-C ends the
reading; what was read is still delivered, unless you press it again. Needs
`pip install 'ottla[cli]'`.

Exit code: 0 all delivered; 1 some were not; 2 wrong call; 130 stopped by Ctrl-C.

Examples:

- `echo hello | ottla produce orders`
- `ottla produce orders -k : -H source=import --compression zstd < orders.txt`
- `ottla consume orders --json --exit --from-beginning | ottla produce copy --json`
- `ottla produce orders --avro orders.avro --rate 100`
"""


@produce.command(help=_HELP)
def produce_command(
    topic: Topic,
    *,
    key_separator: KeySeparator = "",
    header: Headers = None,
    null: Null = None,
    partition: Partition = None,
    acks: AcksOption = Acks.ALL,
    compression: CompressionOption = Compression.NONE,
    idempotence: Idempotence = None,
    timeout: Timeout = 30,
    rate: Rate = None,
    as_json: AsJson = False,
    as_hex: AsHex = False,
    from_avro: FromAvro = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
) -> None:
    if idempotence and acks is not Acks.ALL:
        raise typer.BadParameter("--idempotence needs --acks all.")
    if as_json + as_hex + (from_avro is not None) > 1:
        raise typer.BadParameter("--json, --hex and --avro exclude each other.")
    headers = tuple(_parse_header(text) for text in header or ())
    form = LineFormat(
        key_separator=key_separator.encode() or None,
        null_marker=None if null is None else null.encode(),
        headers=headers,
        is_hex=as_hex,
    )
    parse = JsonFormat(headers).parse if as_json else form.parse
    settings: Settings = {
        "bootstrap.servers": bootstrap,
        "acks": acks.value,
        "compression.type": compression.value,
        "enable.idempotence": acks is Acks.ALL if idempotence is None else idempotence,
        "message.timeout.ms": timeout * 1000,
    }
    try:
        confluent.load()  # before the cluster is asked: it is the first thing to put right
        records = _rows(from_avro) if from_avro else _lines(parse)
        _check(bootstrap, topic, partition)
        delivery, ended = _send(ConfluentSender(topic, partition, settings), records, Pace(rate))
    except (MissingExtra, ClientFailed) as cause:
        fail(f"{cause}.")
    _report(topic, delivery, ended)


def _check(bootstrap: str, topic: str, partition: int | None) -> None:
    """A mistyped name must not make a topic, which a broker may do for a producer."""

    async def check(cluster: Cluster) -> None:
        await describe(cluster, [topic])
        if partition is not None:
            await check_partitions(cluster, [TopicPartition(topic, partition)])

    on_cluster(bootstrap, check)


def _lines(parse: Callable[[bytes], OutgoingRecord]) -> Records:
    return lambda interruption: parse_lines(interruption.lines(sys.stdin.buffer), parse)


def _rows(file: typer.FileBinaryRead) -> Records:
    avro.load()

    def rows(interruption: Interruption) -> Iterator[OutgoingRecord]:
        for record in avro.read_records(file):
            if interruption.requested:
                return
            yield record

    return rows


def _send(sender: ConfluentSender, records: Records, pace: Pace) -> tuple[Delivery, str]:
    """What was delivered, and why the reading ended early, if it did."""
    delivery, ended = Delivery(), ""
    is_typed = sys.stdin.isatty()
    with Counter("records") as counter, Interruption() as interruption:
        stopwatch = Stopwatch()

        def go_on(far: Delivery) -> None:
            if not is_typed:  # somebody who types wants no count between the lines
                counter.show(far.delivered)
            interruption.wait(pace.wait_s(done=far.sent, elapsed_s=stopwatch.elapsed_s()))

        try:
            send_all(records(interruption), sender, delivery, go_on)
        except BadLine as cause:
            ended = str(cause)
        if interruption.requested:
            ended = _STOPPED
        interruption.requested = False  # a second Ctrl-C means: do not even wait for these
        flush(
            sender,
            delivery,
            lambda far: counter.show(far.delivered),
            lambda: interruption.requested,
        )
    return delivery, ended


def _report(topic: str, delivery: Delivery, ended: str) -> None:
    typer.echo(visible(f"{count(delivery.delivered, 'record')} delivered to {topic}."), err=True)
    if delivery.failed:
        fail(f"{count(delivery.failed, 'record')} failed; the first: {delivery.first_failure}.")
    if delivery.given_up:
        fail(f"{count(delivery.given_up, 'record')} given up before they were delivered.")
    if ended == _STOPPED:
        raise typer.Exit(_INTERRUPTED)
    if ended:
        fail(f"{ended}. What stands before it was sent.")


def _parse_header(text: str) -> tuple[str, bytes]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--header")
    return name, value.encode()
