"""`ottla bench`: how fast a cluster takes and gives records, in the lines of Kafka's tools."""

from __future__ import annotations

import json
from itertools import cycle, islice
from typing import Annotated

import typer

from ottla.admin import confluent
from ottla.admin.confluent import ClientFailed, ConfluentSender, Settings
from ottla.admin.extras import MissingExtra
from ottla.admin.pace import Pace
from ottla.admin.performance import (
    SendStatistics,
    payloads,
    total_line,
)
from ottla.admin.producing import (
    Delivery,
    OnDelivery,
    OutgoingRecord,
    Receipt,
    Sender,
    flush,
    send_all,
)
from ottla.admin.topics import partitions_of
from ottla.cli.bench_consume import bench_consume
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, complete_topic, on_cluster
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.cli.outcomes import count
from ottla.cli.produce import Acks, Compression
from ottla.timing.clock import Stopwatch

bench = typer.Typer(
    add_completion=False,
    help="Measure how fast records are written and read, as Kafka's performance tools do.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
Topic = Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=complete_topic)]


_HELP = """Send records as fast as they are taken, and tell how fast that was.

A line every five seconds, and one in the end with the percentiles of the latency from sending
a record to its acknowledgement; MB are of 1,048,576 bytes. The object of `--json` has the keys
`records`, `failed`, `records_per_s`, `mib_per_s`, `latency_ms_avg`, `latency_ms_max` and
`latency_ms_50th`, `…_95th`, `…_99th`, `…_99.9th`. Needs `pip install 'ottla[cli]'`.

Exit code: 0 all were acknowledged; 1 some were not; 2 wrong call.

Examples:

- `ottla bench produce orders -n 1000000 -s 1000 --compression lz4`
"""


@bench.command("produce", help=_HELP)
def produce_command(
    topic: Topic,
    *,
    records: Annotated[int, typer.Option("--records", "-n", min=1, help="How many.")] = 100_000,
    size: Annotated[int, typer.Option("--size", "-s", min=1, help="Bytes of each value.")] = 100,
    rate: Annotated[
        float | None, typer.Option(min=0.1, metavar="PER-SECOND", help="No more than this.")
    ] = None,
    acks: Annotated[Acks, typer.Option(help="Who must have a record first.")] = Acks.ALL,
    compression: Annotated[Compression, typer.Option(help="Of the batches.")] = Compression.NONE,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    settings: Settings = {
        "bootstrap.servers": bootstrap,
        "acks": acks.value,
        "enable.idempotence": acks is Acks.ALL,
        "compression.type": compression.value,
        "linger.ms": 5,
    }
    try:
        confluent.load()
        on_cluster(bootstrap, lambda cluster: partitions_of(cluster, [topic]))
        sender = ConfluentSender(topic, None, settings)
    except (MissingExtra, ClientFailed) as cause:
        fail(f"{cause}.")
    delivery, statistics, stopwatch = Delivery(), SendStatistics(size), Stopwatch()
    pace = Pace(rate)
    with Interruption() as interruption:

        def go_on(far: Delivery) -> None:
            elapsed_s = stopwatch.elapsed_s()
            if (line := statistics.window(elapsed_s)) and not as_json:
                typer.echo(line)
            interruption.wait(pace.wait_s(done=far.sent, elapsed_s=elapsed_s))

        wanted = islice(cycle(payloads(size)), records)
        sent = (OutgoingRecord(None, each, ()) for each in wanted if not interruption.requested)
        send_all(sent, _Measured(sender, statistics), delivery, go_on)
        flush(sender, delivery, go_on, lambda: interruption.requested)
    told = statistics.total(stopwatch.elapsed_s())
    if as_json:
        typer.echo(json.dumps({**told, "failed": delivery.failed}, indent=2))
    else:
        typer.echo(total_line(told))
    if delivery.failed:
        fail(f"{count(delivery.failed, 'record')} failed; the first: {delivery.first_failure}.")


class _Measured:
    """A sender that keeps the latencies of what was acknowledged."""

    def __init__(self, sender: Sender, statistics: SendStatistics) -> None:
        self._sender = sender
        self._statistics = statistics
        self.flush = sender.flush

    def send(self, record: OutgoingRecord, on_delivery: OnDelivery) -> None:
        def hear(receipt: Receipt) -> None:
            if receipt.failure is None:
                self._statistics.add(receipt.latency_ms)
            on_delivery(receipt)

        self._sender.send(record, hear)


bench.command("consume")(bench_consume)
