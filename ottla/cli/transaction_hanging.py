"""`ottla transactions find-hanging`: what no coordinator will ever end."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.stability import Transactions
from ottla.admin.transaction_verdicts import Judged
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, on_cluster
from ottla.cli.durations import parse_duration
from ottla.cli.outcomes import count, sentence
from ottla.cli.output import visible
from ottla.cli.transaction_names import Topics, chosen_partitions
from ottla.cli.transaction_output import judged_to_json, print_hanging
from ottla.cli.transaction_port import Urls, ask_brokers
from ottla.protocol.errors import KafkaError
from ottla.timing.clock import SystemClock

_DEFAULT_SILENCE = "15m"  # transaction.max.timeout.ms, unless an operator changed it
Leader = Annotated[int | None, typer.Option(help="Only partitions that this broker leads.")]
SilentFor = Annotated[
    str,
    typer.Option(
        metavar="HOW-LONG",
        help="Only if the producer wrote nothing for longer, as `transaction.max.timeout.ms`.",
    ),
]
Found = tuple[list[Judged], dict[TopicPartition, KafkaError], int]


def find_hanging(
    *,
    topic: Topics = None,
    broker: Leader = None,
    silent_for: SilentFor = _DEFAULT_SILENCE,
    url: Urls = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Find transactions that are open in a partition, and that no coordinator will end.

    They keep read_committed consumers, and compaction, where they began, until somebody ends them
    with `ottla transactions abort`. What is found is looked at twice, since a transaction may end
    meanwhile. The objects of `--json` have the keys `topic`, `partition`, `producer_id`,
    `producer_epoch`, `coordinator_epoch`, `start_offset`, `last_write_ms`, `began_ms`, `open_ms`,
    `verdict` and `why`, and with `--url` `client_id` and `client_address`.

    Exit code: 0 none hangs; 1 some do, or a partition could not be looked at; 2 wrong call.

    Examples:

    - `ottla transactions find-hanging`
    - `ottla transactions find-hanging --topic orders --silent-for 1h --json`
    """
    silent_ms = parse_duration(silent_for)
    told = ask_brokers(url or ())

    async def find(cluster: Cluster) -> Found:
        partitions = await chosen_partitions(cluster, topic or (), leader=broker)
        view = Transactions(cluster, SystemClock())
        hanging, refused = await view.find_hanging(partitions, silent_ms=silent_ms)
        return hanging, refused, len(partitions)

    hanging, refused, looked_at = on_cluster(bootstrap, find)
    now_ms = SystemClock().now_ms()
    if as_json:
        documents = [
            judged_to_json(each, told.get(TopicPartition(*each.open.partition)), now_ms=now_ms)
            for each in hanging
        ]
        typer.echo(json.dumps(documents, indent=2))
    elif hanging:
        print_hanging(hanging, told, now_ms=now_ms)
    else:
        typer.echo(f"No transaction hangs in {count(looked_at - len(refused), 'partition')}.")
    for partition, refusal in refused.items():
        typer.echo(visible(f"ottla: {partition}: {sentence(refusal)}"), err=True)
    if hanging or refused:
        raise typer.Exit(1)
