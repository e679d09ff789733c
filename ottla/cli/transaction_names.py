"""Transactional ids and places as arguments, with the names that the shell may offer for them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated

import typer

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.topics import list_topics
from ottla.admin.transaction_verdicts import STATES
from ottla.admin.transactions import list_transactions
from ottla.cli.connecting import complete_name, complete_topic
from ottla.cli.offsets import find_partitions


async def _names(cluster: Cluster) -> list[str]:
    return [each.transactional_id for each in await list_transactions(cluster)]


def complete_transaction(context: typer.Context, incomplete: str) -> list[str]:
    return complete_name(context, incomplete, _names)


def complete_state(incomplete: str) -> list[str]:
    return [each for each in STATES if each.lower().startswith(incomplete.lower())]


def parse_state(text: str) -> str:
    """As Kafka writes it."""
    known = {each.lower(): each for each in STATES}
    if text.lower() in known:
        return known[text.lower()]
    near = get_close_matches(text.lower(), known, n=1)
    hint = f"Did you mean {known[near[0]]}?" if near else f"There are {', '.join(STATES)}."
    raise typer.BadParameter(f"{text!r} is no state. {hint}", param_hint="--state")


SomeTransactions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TRANSACTIONAL-ID...]", autocompletion=complete_transaction, show_default=False
    ),
]
Topics = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        "-t",
        metavar="TOPIC[:PARTITION]",
        help="Only this; repeat it.",
        show_default="all",
        autocompletion=complete_topic,
    ),
]


async def chosen_partitions(
    cluster: Cluster, where: Sequence[str], *, leader: int | None = None
) -> list[TopicPartition]:
    """Those that are named, or all; of them those that this broker leads, if one is given."""
    found = await list_topics(cluster)
    led = {
        TopicPartition(topic.name, each.index): each.leader
        for topic in found
        for each in topic.partitions
    }
    wanted = await find_partitions(cluster, where) if where else list(led)
    return [each for each in wanted if leader is None or led.get(each) == leader]
