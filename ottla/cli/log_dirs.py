"""`ottla log-dirs`: what lies in the brokers' log directories, and moving a replica."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from ottla.admin import log_dirs as admin
from ottla.admin.cluster import Cluster
from ottla.admin.log_dirs import LogDir, Replica
from ottla.admin.topics import check_partitions, partitions_of
from ottla.cli.connecting import (
    DEFAULT_BOOTSTRAP,
    AsJson,
    Bootstrap,
    complete_topic,
    on_cluster,
    parse_partition,
)
from ottla.cli.outcomes import error_to_json, sentence
from ottla.cli.output import print_table, visible

log_dirs = typer.Typer(
    add_completion=False,
    help="Show what lies in the brokers' log directories; move a replica to another one.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@log_dirs.command()
def describe(
    *,
    broker: Annotated[
        list[int] | None, typer.Option("--broker", metavar="ID", help="Only of this broker.")
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic", "-t", metavar="TOPIC", help="Only this one.", autocompletion=complete_topic
        ),
    ] = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Show the log directories of the brokers: the replicas in each, and how large they are.

    A future replica is one on its way to this directory; its lag is what is left to copy. The
    objects of `--json` have the keys `broker`, `path`, `total_bytes` and `usable_bytes` (null if
    the broker does not tell), `error` and `replicas`, whose objects have `topic`, `partition`,
    `size_bytes`, `offset_lag` and `future`.

    Exit code: 0 shown; 1 refused by the broker, or a directory has failed; 2 wrong call.

    Examples:

    - `ottla log-dirs describe`
    - `ottla log-dirs describe --broker 1 -t orders --json`
    """

    async def find(cluster: Cluster) -> list[LogDir]:
        partitions = await partitions_of(cluster, topic) if topic else None
        return await admin.describe(cluster, broker_ids=broker or None, partitions=partitions)

    found = on_cluster(bootstrap, find)
    if as_json:
        typer.echo(json.dumps([_to_json(each) for each in found], indent=2))
    else:
        _print(found)
    if any(each.error for each in found):
        raise typer.Exit(1)


@log_dirs.command()
def move(
    partition: Annotated[
        str, typer.Argument(metavar="TOPIC:PARTITION", autocompletion=complete_topic)
    ],
    *,
    broker: Annotated[int, typer.Option("--broker", metavar="ID", help="The one that holds it.")],
    to: Annotated[
        str, typer.Option("--to", metavar="DIR", help="One of the broker's log directories.")
    ],
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Move a replica to another log directory of its broker.

    The command starts the move. `ottla log-dirs describe` shows the replica as a future one until
    it has caught up. The object of `--json` has the keys `topic`, `partition`, `broker`, `path`.

    Exit code: 0 begun; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla log-dirs move orders:0 --broker 1 --to /disk2/kafka`
    """
    wanted = parse_partition(partition)

    async def begin(cluster: Cluster) -> None:
        await check_partitions(cluster, [wanted])
        await admin.move(cluster, wanted, broker_id=broker, path=to)

    on_cluster(bootstrap, begin)
    if as_json:
        told = {"topic": wanted.topic, "partition": wanted.partition, "broker": broker, "path": to}
        typer.echo(json.dumps(told))
    else:
        typer.echo(visible(f"Broker {broker} moves {wanted} to {to}."))


def _print(found: Sequence[LogDir]) -> None:
    for each in found:
        space = ""
        if each.total_bytes is not None and each.usable_bytes is not None:
            space = f", {each.usable_bytes:,} of {each.total_bytes:,} bytes free"
        typer.echo(visible(f"broker {each.broker_id}, {each.path}{space}"))
        if each.error is not None:
            typer.echo(visible(f"ottla: {each.path}: {sentence(each.error)}"), err=True)
        elif each.replicas:
            columns = ("topic", "partition", "bytes", "lag", "future")
            print_table(columns, [_row(replica) for replica in each.replicas])


def _row(replica: Replica) -> tuple[str, ...]:
    return (
        visible(replica.partition.topic),
        str(replica.partition.partition),
        str(replica.size_bytes),
        str(replica.offset_lag),
        "yes" if replica.is_future else "",
    )


def _to_json(found: LogDir) -> dict[str, object]:
    return {
        "broker": found.broker_id,
        "path": found.path,
        "total_bytes": found.total_bytes,
        "usable_bytes": found.usable_bytes,
        "error": None if found.error is None else error_to_json(found.error),
        "replicas": [
            {
                "topic": replica.partition.topic,
                "partition": replica.partition.partition,
                "size_bytes": replica.size_bytes,
                "offset_lag": replica.offset_lag,
                "future": replica.is_future,
            }
            for replica in found.replicas
        ],
    }
