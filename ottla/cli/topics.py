"""`ottla topics`: make, list, describe, expand and delete topics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from ottla.admin import configs as config_admin
from ottla.admin import topics as admin
from ottla.admin.cluster import Cluster
from ottla.admin.configs import ConfigSource, Resource, ResourceType
from ottla.cli.connecting import (
    DEFAULT_BOOTSTRAP,
    AsJson,
    Bootstrap,
    Yes,
    complete_topic,
    confirm,
    on_cluster,
)
from ottla.cli.outcomes import Outcomes, count
from ottla.cli.topic_output import print_described, print_list, topic_to_json
from ottla.protocol.errors import ErrorCode, KafkaError

topics = typer.Typer(
    add_completion=False,
    help="Make, list, describe, expand and delete topics.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
SomeTopics = Annotated[
    list[str], typer.Argument(metavar="TOPIC...", autocompletion=complete_topic, show_default=False)
]
Assignment = Annotated[
    str,
    typer.Option(
        metavar="BROKERS",
        help="The brokers of each partition: 1:2,2:3 is two partitions with two replicas each.",
        show_default=False,
    ),
]
ValidateOnly = Annotated[
    bool, typer.Option("--validate-only", help="Ask whether it could be done; change nothing.")
]


NewTopics = Annotated[list[str], typer.Argument(metavar="TOPIC...", show_default=False)]
PartitionCount = Annotated[
    int | None,
    typer.Option("--partitions", "-p", min=1, help="How many; the broker decides if not given."),
]
ReplicationFactor = Annotated[
    int | None,
    typer.Option("--replication-factor", "-r", min=1, help="How many replicas of each."),
]
Configs = Annotated[
    list[str] | None,
    typer.Option("--config", "-c", metavar="NAME=VALUE", help="Repeat it for several."),
]
IfNotExists = Annotated[bool, typer.Option("--if-not-exists", help="A topic that exists is fine.")]


@topics.command()
def create(
    names: NewTopics,
    *,
    partitions: PartitionCount = None,
    replication_factor: ReplicationFactor = None,
    config: Configs = None,
    assignment: Assignment = "",
    if_not_exists: IfNotExists = False,
    validate_only: ValidateOnly = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Make topics.

    The objects of `--json` have the keys `topic`, `created`, `id`, `partitions`,
    `replication_factor` and `error`: null, or an object with `code`, `name` and `message`.

    Exit code: 0 made; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla topics create orders -p 6 -r 3 -c retention.ms=86400000`
    - `ottla topics create orders --assignment 1:2,2:3 --validate-only`
    """
    if assignment and (partitions is not None or replication_factor is not None):
        raise typer.BadParameter("--assignment already says how many partitions and replicas.")
    new = [
        admin.NewTopic(
            name=name,
            partitions=partitions or admin.BROKER_DEFAULT,
            replication_factor=replication_factor or admin.BROKER_DEFAULT,
            assignments=_parse_assignment(assignment),
            configs=_parse_configs(config or ()),
        )
        for name in dict.fromkeys(names)
    ]
    results = on_cluster(
        bootstrap, lambda cluster: admin.create(cluster, new, validate_only=validate_only)
    )
    outcomes = Outcomes(as_json=as_json)
    for name, result in results.items():
        _tell_created(outcomes, name, result, may_exist=if_not_exists, validate_only=validate_only)
    outcomes.finish()


def _tell_created(
    outcomes: Outcomes,
    name: str,
    result: admin.Created | KafkaError,
    *,
    may_exist: bool,
    validate_only: bool,
) -> None:
    nothing = {"topic": name, "created": False}
    if isinstance(result, admin.Created):
        numbers = {"partitions": result.partitions, "replication_factor": result.replication_factor}
        told = {"topic": name, "created": not validate_only, "id": result.id, **numbers}
        known = ""
        if result.partitions is not None:
            size = count(result.partitions, "partition")
            known = f" with {size}, replication factor {result.replication_factor}"
        verb = "Could create" if validate_only else "Created"
        outcomes.done(told, f"{verb} {name}{known}.")
    elif may_exist and result.code is ErrorCode.TOPIC_ALREADY_EXISTS:
        outcomes.done(nothing, f"{name} exists.")
    else:
        outcomes.refused(nothing, name, result)


@topics.command("list")
def list_command(
    *,
    internal: Annotated[
        bool, typer.Option("--internal", help="Also those the brokers keep for themselves.")
    ] = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """List the topics.

    The objects of `--json` have the keys `topic`, `id`, `internal`, `partition_count` and
    `replication_factor`.

    Examples:

    - `ottla topics list`
    - `ottla topics list -b kafka-1:9092 --internal --json`
    """
    found = on_cluster(bootstrap, admin.list_topics)
    shown = [topic for topic in found if internal or not topic.is_internal]
    if as_json:
        typer.echo(json.dumps([topic_to_json(topic, ()) for topic in shown], indent=2))
    elif shown:
        print_list(shown)
    else:
        typer.echo("There are no topics. `ottla topics create` makes one.", err=True)


@topics.command()
def describe(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC...]", autocompletion=complete_topic, show_default=False),
    ] = None,
    *,
    under_replicated: Annotated[
        bool,
        typer.Option("--under-replicated", help="Only partitions with a replica out of sync."),
    ] = False,
    unavailable: Annotated[
        bool, typer.Option("--unavailable", help="Only partitions without a leader.")
    ] = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Show the partitions of topics, who leads and who holds them, and what is configured.

    The objects of `--json` have the keys `topic`, `id`, `internal`, `partition_count`,
    `replication_factor`, `configs` (what is set for the topic itself) and `partitions`, whose
    objects have `partition`, `leader` (null if there is none), `leader_epoch`, `replicas`,
    `in_sync`, `offline` and `under_replicated`.

    Examples:

    - `ottla topics describe orders`
    - `ottla topics describe --under-replicated`
    """
    told = on_cluster(bootstrap, lambda cluster: _described(cluster, names or ()))

    def is_wanted(partition: admin.Partition) -> bool:
        return (partition.is_under_replicated or not under_replicated) and (
            partition.leader is None or not unavailable
        )

    is_filtered = under_replicated or unavailable
    shown = []
    for topic, configs in told.items():
        partitions = [partition for partition in topic.partitions if is_wanted(partition)]
        if partitions or not is_filtered:
            shown.append((topic, partitions, configs))
    if as_json:
        typer.echo(json.dumps([topic_to_json(*each) for each in shown], indent=2))
        return
    for each in shown:
        print_described(*each)
    if not shown:
        typer.echo("There is no such partition." if is_filtered else "There are no topics.")


async def _described(
    cluster: Cluster, names: Sequence[str]
) -> dict[admin.Topic, Mapping[str, str | None]]:
    """The topics with what is set for them; without a right to see that, with nothing."""
    wanted = list(dict.fromkeys(names))
    found = await (admin.describe(cluster, wanted) if wanted else admin.list_topics(cluster))
    resources = {Resource(ResourceType.TOPIC, topic.name): topic for topic in found}
    described = await config_admin.describe(cluster, list(resources)) if resources else {}
    told: dict[admin.Topic, Mapping[str, str | None]] = {}
    for resource, entries in described.items():
        told[resources[resource]] = {
            entry.name: entry.value
            for entry in (() if isinstance(entries, KafkaError) else entries)
            if entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
        }
    return told


@topics.command()
def delete(
    names: SomeTopics,
    *,
    if_exists: Annotated[
        bool, typer.Option("--if-exists", help="A topic that does not exist is fine.")
    ] = False,
    yes: Yes = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Delete topics and all that is in them. On a terminal you are asked first.

    The objects of `--json` have the keys `topic`, `deleted` and `error`.

    Exit code: 0 deleted; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla topics delete orders`
    - `ottla topics delete orders payments --if-exists --yes`
    """
    wanted = list(dict.fromkeys(names))
    confirm(f"Delete {', '.join(wanted)} with all records?", yes=yes)
    results = on_cluster(bootstrap, lambda cluster: admin.delete(cluster, wanted))
    outcomes = Outcomes(as_json=as_json)
    for name, refusal in results.items():
        if refusal is None:
            outcomes.done({"topic": name, "deleted": True}, f"Deleted {name}.")
        elif if_exists and refusal.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            outcomes.done({"topic": name, "deleted": False}, f"{name} does not exist.")
        else:
            outcomes.refused({"topic": name, "deleted": False}, name, refusal)
    outcomes.finish()


@topics.command()
def expand(
    name: Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=complete_topic)],
    *,
    partitions: Annotated[
        int, typer.Option("--partitions", "-p", min=1, help="How many there shall be in all.")
    ],
    assignment: Assignment = "",
    validate_only: ValidateOnly = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Give a topic more partitions. Keys may then go to another partition than before.

    `--assignment` names the brokers of the new partitions only. The object of `--json` has the
    keys `topic`, `partitions` and `validated_only`.

    Examples:

    - `ottla topics expand orders -p 12`
    """
    assignments = _parse_assignment(assignment)
    on_cluster(
        bootstrap,
        lambda cluster: admin.expand(
            cluster,
            name,
            partitions=partitions,
            assignments=assignments,
            validate_only=validate_only,
        ),
    )
    if as_json:
        told = {"topic": name, "partitions": partitions, "validated_only": validate_only}
        typer.echo(json.dumps(told))
    else:
        verb = "could have" if validate_only else "has"
        typer.echo(f"{name} {verb} {count(partitions, 'partition')}.")


def _parse_assignment(text: str) -> tuple[tuple[int, ...], ...]:
    try:
        partitions = [part.split(":") for part in text.split(",")] if text else []
        return tuple(tuple(int(broker) for broker in brokers) for brokers in partitions)
    except ValueError as cause:
        raise typer.BadParameter(
            f"{text!r} is not broker ids with ':' between replicas and ',' between partitions.",
            param_hint="--assignment",
        ) from cause


def _parse_configs(settings: Sequence[str]) -> dict[str, str]:
    configs = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{setting!r} is not NAME=VALUE.", param_hint="--config")
        configs[name] = value
    return configs
