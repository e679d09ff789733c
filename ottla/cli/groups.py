"""`ottla groups`: who reads together, how far they are, and moving or forgetting their offsets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from ottla.admin import group_offsets
from ottla.admin import groups as admin
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.group_lag import GroupLag, LagWatch
from ottla.cli.connecting import (
    DEFAULT_BOOTSTRAP,
    AsJson,
    Bootstrap,
    Yes,
    complete_topic,
    confirm,
    on_cluster,
)
from ottla.cli.group_history import history
from ottla.cli.group_lag import lag
from ottla.cli.group_names import SomeGroups, complete_group
from ottla.cli.group_output import (
    described_to_json,
    listed_to_json,
    members_in_words,
    print_described,
    print_list,
)
from ottla.cli.group_reset import HELP as HELP_OF_RESET
from ottla.cli.group_reset import reset
from ottla.cli.outcomes import Outcomes
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.timing.clock import SystemClock

groups = typer.Typer(
    add_completion=False,
    help="Show who reads together and how far they are; move or forget their offsets.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
_STILL_USED = (ErrorCode.NON_EMPTY_GROUP, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)


@groups.command("list")
def list_command(
    *,
    state: Annotated[
        list[str] | None, typer.Option("--state", "-s", help="Only in this state; repeat it.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--type", help="Only classic, or only consumer.")
    ] = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """List the groups of all brokers, with their states and types.

    States are Empty, PreparingRebalance, CompletingRebalance, Stable and Dead. The objects of
    `--json` have the keys `group`, `state`, `type`, `protocol_type` and `coordinator`.

    Examples:

    - `ottla groups list`
    - `ottla groups list --state empty --json`
    """
    states = [each.lower() for each in state or ()]
    kinds = [each.lower() for each in kind or ()]
    found = [
        each
        for each in on_cluster(bootstrap, admin.list_groups)
        if (not states or each.state.lower() in states)
        and (not kinds or each.type.lower() in kinds)
    ]
    if as_json:
        typer.echo(json.dumps([listed_to_json(each) for each in found], indent=2))
    elif found:
        print_list(found)
    else:
        typer.echo("There are no such groups." if states or kinds else "There are no groups.")


@groups.command()
def describe(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[GROUP...]", autocompletion=complete_group, show_default=False),
    ] = None,
    *,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Show the members of groups, the partitions they hold, and the committed offsets.

    The objects of `--json` have the keys `group`, `state`, `type`, `protocol_type`, `assignor`,
    `coordinator`, `members` (each `member_id`, `instance_id`, `client_id`, `host` and `assigned`,
    null where it cannot be read) and `offsets` (each `topic`, `partition`, `committed`, `end`,
    `lag`, `member_id`, `client_id` and `host`).

    Exit code: 0 shown; 1 there is no such group, or refused by the broker; 2 wrong call.

    Examples:

    - `ottla groups describe billing`
    - `ottla groups describe --json`
    """

    async def described(cluster: Cluster) -> list[GroupLag]:
        wanted = list(dict.fromkeys(names or ()))
        wanted = wanted or [each.id for each in await admin.list_groups(cluster)]
        watches = [LagWatch(cluster, each, SystemClock()) for each in wanted]
        return [await each.look(with_ages=False) for each in watches]

    found = on_cluster(bootstrap, described)
    if as_json:
        told = [described_to_json(each.group, each.partitions) for each in found]
        typer.echo(json.dumps(told, indent=2))
        return
    for number, each in enumerate(found):
        if number:
            typer.echo()
        print_described(each.group, each.partitions)
    if not found:
        typer.echo("There are no groups.")


@groups.command()
def delete(
    names: SomeGroups,
    *,
    offsets_of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC[:PARTITION]",
            help="Keep the group, and forget only where it is in this; repeat it.",
            autocompletion=complete_topic,
        ),
    ] = None,
    yes: Yes = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Delete groups with all their offsets, or only their offsets of some topics.

    A group with members cannot be deleted, nor can the offsets of a topic that a member is
    subscribed to. On a terminal you are asked first. The objects of `--json` have the keys `group`
    and `error`; with `--offsets-of` also `topic` and `partition`.

    Exit code: 0 deleted; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla groups delete billing audit`
    - `ottla groups delete billing --offsets-of orders --offsets-of payments:0`
    """
    what = f"their offsets of {', '.join(offsets_of)}" if offsets_of else "all their offsets"
    confirm(f"Delete {what}: {', '.join(names)}?", yes=yes)
    outcomes = Outcomes(as_json=as_json)
    for name in dict.fromkeys(names):
        if offsets_of:
            _forget(outcomes, bootstrap, name, offsets_of)
        else:
            _delete(outcomes, bootstrap, name)
    outcomes.finish()


def _delete(outcomes: Outcomes, bootstrap: str, name: str) -> None:
    async def delete_one(cluster: Cluster) -> KafkaError | None:
        refused = (await admin.delete(cluster, [name]))[name]
        return await _with_members(cluster, name, refused)

    refused = on_cluster(bootstrap, delete_one)
    if refused is None:
        outcomes.done({"group": name}, f"Deleted {name}.")
    else:
        outcomes.refused({"group": name}, name, refused)


def _forget(outcomes: Outcomes, bootstrap: str, name: str, where: list[str]) -> None:
    async def forget(cluster: Cluster) -> dict[TopicPartition, KafkaError | None]:
        await admin.describe_existing(cluster, name)
        committed = await group_offsets.committed(cluster, name)
        wanted = _chosen(name, where, list(committed))
        results = await group_offsets.forget(cluster, name, wanted)
        return {
            partition: await _with_members(cluster, name, refused)
            for partition, refused in results.items()
        }

    for partition, refused in on_cluster(bootstrap, forget).items():
        told = {"group": name, "topic": partition.topic, "partition": partition.partition}
        if refused is None:
            outcomes.done(told, f"{name} has forgotten where it was in {partition}.")
        else:
            outcomes.refused(told, f"{name}, {partition}", refused)


def _chosen(
    name: str, where: Sequence[str], committed: Sequence[TopicPartition]
) -> list[TopicPartition]:
    """Of what it has committed, in topics that may be gone themselves."""
    wanted: list[TopicPartition] = []
    for text in where:
        found = [each for each in committed if text in (each.topic, f"{each[0]}:{each[1]}")]
        if not found:
            detail = f"the group {name!r} has no committed offset of {text}."
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, detail)
        wanted += found
    return list(dict.fromkeys(wanted))


async def _with_members(
    cluster: Cluster, name: str, refused: KafkaError | None
) -> KafkaError | None:
    """A refusal because of members names them, and says what to do."""
    if refused is None or refused.code not in _STILL_USED:
        return refused
    members = members_in_words(await admin.describe(cluster, name))
    detail = f"{refused.detail.rstrip('.')}: it has {members}. Stop them, then try again."
    return KafkaError(refused.code, detail)


groups.command()(lag)
groups.command(help=HELP_OF_RESET)(reset)
groups.command()(history)
