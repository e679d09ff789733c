"""Which dead letters, as options say it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from ottla.cli.connecting import complete_topic
from ottla.cli.moments import parse_moment
from ottla.cli.pipeline_clusters import reach
from ottla.cli.progress import Counter
from ottla.pipelines.repair.dead_letters import DeadLetters, Wanted
from ottla.pipelines.repair.markers import State
from ottla.timing.clock import SystemClock

_FOREVER_MS = 2**63

LettersTopic = Annotated[
    str,
    typer.Argument(metavar="TOPIC", help="Of dead letters.", autocompletion=complete_topic),
]
One = Annotated[str, typer.Argument(metavar="PARTITION:OFFSET", show_default=False)]
Some = Annotated[
    list[str] | None, typer.Argument(metavar="[PARTITION:OFFSET...]", show_default=False)
]
Rule = Annotated[str | None, typer.Option("--rule", "-r", help="Only those that broke this rule.")]
Origin = Annotated[
    str | None,
    typer.Option("--origin", "-o", metavar="TOPIC[:PARTITION]", help="Only what came from there."),
]
Since = Annotated[
    str,
    typer.Option("--since", metavar="WHEN", help="Laid aside then or later.", show_default=False),
]
Until = Annotated[
    str, typer.Option("--until", metavar="WHEN", help="Laid aside before.", show_default=False)
]
InState = Annotated[State | None, typer.Option("--state", "-s", help="Only in this state.")]
ListLimit = Annotated[int, typer.Option("--limit", "-n", min=1, help="No more than so many.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="No more than so many.")]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="TOPIC",
        help="Send them there, not to where they came from.",
        autocompletion=complete_topic,
    ),
]
Again = Annotated[bool, typer.Option("--again", help="Also what was redriven or discarded.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell which letters it would be.")]
Rate = Annotated[
    float | None, typer.Option(min=0.1, metavar="PER-SECOND", help="No more letters than this.")
]
InHex = Annotated[bool, typer.Option("--hex", help="Key, value and headers in hexadecimal.")]


@contextmanager
def open_letters(bootstrap: str, topic: str) -> Iterator[DeadLetters]:
    """With a count on the terminal of what was looked at."""
    with Counter("records looked at") as counter:
        yield DeadLetters(reach(bootstrap), topic, SystemClock(), on_look=counter.show)


def parse_wanted(
    letters: Sequence[str] = (),
    *,
    rule: str | None,
    origin: str | None,
    since: str,
    until: str,
    state: State | None = None,
    limit: int | None = None,
) -> Wanted:
    topic, _, index = (origin or "").rpartition(":")
    is_place = bool(topic) and index.isdecimal()
    return Wanted(
        rule=rule,
        topic=topic if is_place else origin,
        partition=int(index) if is_place else None,
        state=state,
        from_ms=parse_moment(since) if since else 0,
        to_ms=parse_moment(until) if until else _FOREVER_MS,
        limit=limit,
        only=tuple(map(parse_letter, letters)),
    )


def parse_letter(text: str) -> tuple[int, int]:
    partition, _, offset = text.rpartition(":")
    if not partition.isdecimal() or not offset.isdecimal():
        raise typer.BadParameter(f"{text!r} is not PARTITION:OFFSET, as 0:17 is.")
    return int(partition), int(offset)
