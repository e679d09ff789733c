"""What the commands that ask a cluster share: where it is, and sentences for what goes wrong."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from ottla.admin.addresses import BadAddress
from ottla.admin.cluster import Cluster, TopicPartition, Unreachable
from ottla.admin.topics import list_topics
from ottla.cli.failure import fail
from ottla.cli.outcomes import sentence
from ottla.protocol.errors import KafkaError

T = TypeVar("T")

DEFAULT_BOOTSTRAP = "127.0.0.1:9092"
_COMPLETION_TIMEOUT_MS = 1_000

Bootstrap = Annotated[
    str,
    typer.Option(
        "--bootstrap",
        "-b",
        envvar="OTTLA_BOOTSTRAP",
        metavar="HOST:PORT,…",
        help="One broker of the cluster, or several with commas.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether it is meant.")]


def on_cluster(bootstrap: str, work: Callable[[Cluster], Awaitable[T]]) -> T:
    """Does the work, or ends the command with a sentence."""
    try:
        return asyncio.run(_connected(bootstrap, work))
    except BadAddress as cause:
        raise typer.BadParameter(str(cause), param_hint="--bootstrap") from cause
    except Unreachable as cause:
        fail(f"{cause}. Is it running? --bootstrap (-b) or OTTLA_BOOTSTRAP says where it is.")
    except KafkaError as refused:
        fail(sentence(refused))
    except OSError as cause:
        fail(f"{cause}.")


async def _connected(bootstrap: str, work: Callable[[Cluster], Awaitable[T]]) -> T:
    async with Cluster(bootstrap) as cluster:
        return await work(cluster)


def confirm(question: str, *, yes: bool) -> None:
    """Asks a person; a program has said what it wants by calling."""
    if not yes and sys.stdin.isatty() and not typer.confirm(question, err=True):
        raise typer.Exit(1)


async def _topic_names(cluster: Cluster) -> list[str]:
    return [topic.name for topic in await list_topics(cluster)]


def complete_topic(context: typer.Context, incomplete: str) -> list[str]:
    return complete_name(context, incomplete, _topic_names)


def complete_name(
    context: typer.Context, incomplete: str, names: Callable[[Cluster], Awaitable[list[str]]]
) -> list[str]:
    """The shell waits for it, so a broker that does not answer at once means no suggestions."""
    bootstrap = context.params.get("bootstrap") or DEFAULT_BOOTSTRAP

    async def found() -> list[str]:
        async with Cluster(bootstrap, timeout_ms=_COMPLETION_TIMEOUT_MS) as cluster:
            return await names(cluster)

    try:
        return [name for name in asyncio.run(found()) if name.startswith(incomplete)]
    except (BadAddress, KafkaError, OSError):
        return []


def parse_partition(text: str) -> TopicPartition:
    """`orders:0`."""
    topic, _, index = text.rpartition(":")
    if not topic or not index.isdecimal():
        raise typer.BadParameter(f"{text!r} is not TOPIC:PARTITION, as orders:0 is.")
    return TopicPartition(topic, int(index))
