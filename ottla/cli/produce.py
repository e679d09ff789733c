"""`ottla produce`: lines from stdin become records of a topic."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from ottla.admin import confluent
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.confluent import ClientFailed, ConfluentSender, MissingExtra, Settings
from ottla.admin.producing import BadLine, Delivery, LineFormat, flush, send_lines
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

produce = typer.Typer(add_completion=False, rich_markup_mode="markdown")
_STOPPED = "stopped"
_INTERRUPTED = 130


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


@produce.command()
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
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
) -> None:
    """Send each line of stdin as a record.

    A key goes to the same partition as with Kafka's Java client. Ctrl-C ends the reading; what
    was read is still delivered, unless you press it again. Needs `pip install 'ottla[cli]'`.

    Exit code: 0 all delivered; 1 some were not; 2 wrong call; 130 stopped by Ctrl-C.

    Examples:

    - `echo hello | ottla produce orders`
    - `ottla produce orders -k : -H source=import --compression zstd < orders.txt`
    """
    if idempotence and acks is not Acks.ALL:
        raise typer.BadParameter("--idempotence needs --acks all.")
    form = LineFormat(
        key_separator=key_separator.encode() or None,
        null_marker=None if null is None else null.encode(),
        headers=tuple(_parse_header(text) for text in header or ()),
    )
    settings: Settings = {
        "bootstrap.servers": bootstrap,
        "acks": acks.value,
        "compression.type": compression.value,
        "enable.idempotence": acks is Acks.ALL if idempotence is None else idempotence,
        "message.timeout.ms": timeout * 1000,
    }
    try:
        confluent.load()  # before the cluster is asked: it is the first thing to put right
        _check(bootstrap, topic, partition)
        delivery, ended = _send(ConfluentSender(topic, partition, settings), form)
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


def _send(sender: ConfluentSender, form: LineFormat) -> tuple[Delivery, str]:
    """What was delivered, and why the reading ended early, if it did."""
    delivery, ended = Delivery(), ""
    is_typed = sys.stdin.isatty()
    with Counter("records") as counter, Interruption() as interruption:
        # Somebody who types wants no count between the lines.
        show = (lambda _: None) if is_typed else counter.show
        try:
            send_lines(interruption.lines(sys.stdin.buffer), sender, form, delivery, show)
        except BadLine as cause:
            ended = str(cause)
        if interruption.requested:
            ended = _STOPPED
        interruption.requested = False  # a second Ctrl-C means: do not even wait for these
        flush(sender, delivery, counter.show, lambda: interruption.requested)
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
        fail(f"{ended}. The lines before it were sent.")


def _parse_header(text: str) -> tuple[str, bytes]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--header")
    return name, value.encode()
