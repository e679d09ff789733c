"""`ottla verify`: a producer and a consumer whose every step is a line of JSON, as those of Kafka
print it; and histories of transactions, recorded and checked."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from contextlib import closing
from enum import StrEnum
from typing import Annotated, Any

import typer

from ottla.admin import confluent
from ottla.admin.confluent import ClientFailed, ConfluentSender, ConfluentSource, Settings
from ottla.admin.consuming import batches, check_groups, next_offsets
from ottla.admin.extras import MissingExtra
from ottla.admin.pace import Pace
from ottla.admin.topics import partitions_of
from ottla.admin.verifiable import VerifiableConsumer, VerifiableProducer
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, Bootstrap, complete_topic, on_cluster
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.cli.produce import Acks
from ottla.cli.verify_history import HISTORY_HELP, verify_history
from ottla.cli.verify_transactions import TRANSACTIONS_HELP, verify_transactions
from ottla.timing.clock import Stopwatch, SystemClock

verify = typer.Typer(
    add_completion=False,
    help="Prove what a cluster does with records: each step as JSON, or a whole history checked.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
_FLUSH_S = 0.2


class Reset(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "error"


class Assignor(StrEnum):
    RANGE = "range"
    ROUND_ROBIN = "roundrobin"
    COOPERATIVE_STICKY = "cooperative-sticky"


Topic = Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=complete_topic)]
MaxMessages = Annotated[
    int | None, typer.Option("--max-messages", "-n", min=1, help="Stop after so many.")
]
Rate = Annotated[
    int | None, typer.Option(min=1, metavar="PER-SECOND", help="No more records than this.")
]


_PRODUCE = """Send 0, 1, 2 … and tell what became of each. Ctrl-C or SIGTERM ends it.

Lines have `timestamp` and `name`: `startup_complete`; `producer_send_success` with `key`,
`value`, `offset`, `topic` and `partition`; `producer_send_error` with `topic`, `key`, `value`,
`exception` and `message`; `shutdown_complete`; `tool_data` with `sent`, `acked`,
`target_throughput` and `avg_throughput`. Needs `pip install 'ottla[cli]'`.

Exit code: 0 all were acknowledged; 1 some were not; 2 wrong call.

Examples:

- `ottla verify produce orders -n 1000 --rate 100`
"""


@verify.command("produce", help=_PRODUCE)
def produce_command(
    topic: Topic,
    *,
    max_messages: MaxMessages = None,
    rate: Rate = None,
    acks: Annotated[Acks, typer.Option(help="Who must have a record first.")] = Acks.ALL,
    value_prefix: Annotated[
        str, typer.Option(help="Goes before each value, with a dot.", show_default=False)
    ] = "",
    repeating_keys: Annotated[
        int | None, typer.Option(min=1, help="Keys from 0 to one less than this, in turn.")
    ] = None,
    first_timestamp: Annotated[
        int | None, typer.Option(min=0, help="Of the first record, in ms since 1970.")
    ] = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
) -> None:
    settings: Settings = {
        "bootstrap.servers": bootstrap,
        "acks": acks.value,
        "enable.idempotence": acks is Acks.ALL,
    }
    try:
        confluent.load()
        on_cluster(bootstrap, lambda cluster: partitions_of(cluster, [topic]))
        sender = ConfluentSender(topic, None, settings)
    except (MissingExtra, ClientFailed) as cause:
        fail(f"{cause}.")
    producer = VerifiableProducer(
        sender,
        topic,
        _tell,
        value_prefix=value_prefix,
        repeating_keys=repeating_keys,
        first_timestamp=first_timestamp,
    )
    _tell("startup_complete", {})
    stopwatch = Stopwatch()
    _send(producer, sender, Pace(rate), stopwatch, max_messages)
    elapsed_s = stopwatch.elapsed_s()
    _tell("shutdown_complete", {})
    producer.tell_total(target=rate, elapsed_s=elapsed_s)
    if producer.acked < producer.sent:
        raise typer.Exit(1)


def _send(
    producer: VerifiableProducer,
    sender: ConfluentSender,
    pace: Pace,
    stopwatch: Stopwatch,
    at_most: int | None,
) -> None:
    with Interruption(signal.SIGTERM) as interruption:
        while not interruption.requested and (at_most is None or producer.sent < at_most):
            elapsed_s = stopwatch.elapsed_s()
            producer.send_next(round(elapsed_s * 1000))
            interruption.wait(pace.wait_s(done=producer.sent, elapsed_s=elapsed_s))
        interruption.requested = False
        while sender.flush(_FLUSH_S) and not interruption.requested:
            pass


_CONSUME = """Read as a member of a group and tell what was given, read and committed.

Lines have `timestamp` and `name`: `startup_complete`; `partitions_assigned` and
`partitions_revoked` with `partitions`; `records_consumed` with `count` and `partitions` (each
`topic`, `partition`, `count`, `minOffset`, `maxOffset`); `record_data` with `key`, `value`,
`topic`, `partition` and `offset`; `offsets_committed` with `offsets`, `success` and, if it
failed, `error`; `shutdown_complete`. Ctrl-C or SIGTERM ends it. Needs
`pip install 'ottla[cli]'`.

Exit code: 0 ended as asked; 1 failed; 2 wrong call.

Examples:

- `ottla verify consume orders --group audit -n 1000`
"""


@verify.command("consume", help=_CONSUME)
def consume_command(
    topic: Topic,
    *,
    group: Annotated[str, typer.Option("--group", "-g", help="As a member of this group.")],
    instance: Annotated[
        str, typer.Option(help="A static member of this name.", show_default=False)
    ] = "",
    max_messages: MaxMessages = None,
    session_timeout: Annotated[int, typer.Option(min=1, metavar="MS")] = 30_000,
    verbose: Annotated[bool, typer.Option("--verbose", help="Each record, too.")] = False,
    auto_commit: Annotated[
        bool, typer.Option("--auto-commit", help="Leave the commits to the client library.")
    ] = False,
    reset: Annotated[
        Reset, typer.Option(help="Where to begin without a committed offset.")
    ] = Reset.EARLIEST,
    assignor: Annotated[Assignor, typer.Option(help="Who gets what.")] = Assignor.RANGE,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
) -> None:
    settings: dict[str, str | int | bool] = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "session.timeout.ms": session_timeout,
        "enable.auto.commit": auto_commit,
        "enable.auto.offset.store": False,
        "auto.offset.reset": reset.value,
        "partition.assignment.strategy": assignor.value,
    }
    if instance:
        settings["group.instance.id"] = instance
    try:
        confluent.load()
        on_cluster(bootstrap, check_groups)
        on_cluster(bootstrap, lambda cluster: partitions_of(cluster, [topic]))
        _consume(topic, settings, verbose=verbose, auto_commit=auto_commit, at_most=max_messages)
    except (MissingExtra, ClientFailed) as cause:
        fail(f"{cause}.")
    _tell("shutdown_complete", {})


def _consume(
    topic: str, settings: Settings, *, verbose: bool, auto_commit: bool, at_most: int | None
) -> None:
    consumer = VerifiableConsumer(_tell, verbose=verbose)
    source = ConfluentSource(settings, lambda trouble: typer.echo(f"ottla: {trouble}.", err=True))
    with closing(source), Interruption(signal.SIGTERM) as interruption:
        _tell("startup_complete", {})
        source.subscribe(topic, on_assigned=consumer.assigned, on_revoked=consumer.revoked)
        found = batches(
            source, at_most=at_most, stop_at_end=False, is_stopped=lambda: interruption.requested
        )
        for records in found:
            consumer.consumed(records)
            offsets = next_offsets(records)
            if auto_commit:
                source.store(offsets)
                continue
            try:
                source.commit(offsets)
            except ClientFailed as cause:
                consumer.committed(offsets, str(cause))
            else:
                consumer.committed(offsets, None)


def _tell(name: str, what: Mapping[str, Any]) -> None:
    told = {"timestamp": SystemClock().now_ms(), "name": name, **what}
    typer.echo(json.dumps(told, separators=(",", ":")))


verify.command("transactions", help=TRANSACTIONS_HELP)(verify_transactions)
verify.command("history", help=HISTORY_HELP)(verify_history)
