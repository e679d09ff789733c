"""`ottla groups history`: the story of a group's rebalances, which only Ottla's brokers keep."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

import typer

from ottla.cli.connecting import AsJson
from ottla.cli.durations import show_duration
from ottla.cli.failure import fail
from ottla.cli.group_names import OneGroup
from ottla.cli.http_port import fetch_document
from ottla.cli.moments import show_moment
from ottla.cli.outcomes import count
from ottla.cli.output import visible

_PATH = "/debug/groups/history"
_MOST_MOVES = 8
_SHOWN = 20
_ASSIGNED = "assigned"
_OUTCOMES = {
    "empty": "nobody is left",
    "interrupted": "the next one came before its end",
    "unloaded": "another broker coordinates the group by now",
}
Entry = Mapping[str, Any]

HistoryUrl = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="The HTTP port of the group's coordinator, as it prints it when it starts.",
        show_default=False,
    ),
]
Last = Annotated[int, typer.Option("--last", "-n", min=1, help="Only so many, the newest.")]


def history(
    group: OneGroup, *, url: HistoryUrl = "", last: Last = _SHOWN, as_json: AsJson = False
) -> None:
    """Tell who or what caused each rebalance, how long nobody read, and which partitions moved.

    Ottla's brokers remember the last 1,000 rebalances of the groups that they coordinate, and tell
    them on their HTTP port (option `ottla.http.port`); Apache Kafka's brokers keep no such history.
    The objects of `--json` are the broker's own: among their keys are `generation_before`,
    `generation_after`, `cause`, `who` (`member_id`, `client_id`, `host`, `instance_id`, `reason`),
    `causes` if there were several, `outcome`, `began_ms`, `ended_ms`, `stood_still_ms` and `moved`,
    whose objects have `topic`, `partition`, `from` and `to`.

    Exit code: 0 told; 1 no broker of Ottla's answers there; 2 wrong call.

    Examples:

    - `ottla groups history billing --url http://127.0.0.1:9600`
    - `ottla groups history billing --url http://127.0.0.1:9600 --last 1 --json`
    """
    if not url:
        fail(
            "only Ottla's brokers keep the history of rebalances, and tell it on their HTTP port: "
            "give --url http://127.0.0.1:PORT. Apache Kafka keeps none."
        )
    document = fetch_document(url, f"{_PATH}?group={quote(group, safe='')}", "rebalances")
    entries = [each for each in document["rebalances"] if each["group"] == group][-last:]
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
    elif entries:
        for entry in entries:
            typer.echo("\n".join(map(visible, _story(entry))))
    else:
        typer.echo(visible(f"The broker at {url} remembers no rebalance of {group}."))


def _story(entry: Entry) -> list[str]:
    before, after = entry["generation_before"], entry["generation_after"]
    generations = f"generation {before}" + (f" to {after}" if after is not None else "")
    first, *others = entry["causes"]
    lines = [f"{show_moment(entry['began_ms'])}  {generations}: {_cause(first)}"]
    lines += [f"    and {_cause(each)}" for each in others]
    if more := entry["cause_count"] - len(entry["causes"]):
        lines.append(f"    and {count(more, 'further cause')}")
    return [*lines, f"    {_end(entry)}"]


def _end(entry: Entry) -> str:
    outcome = entry["outcome"]
    if outcome is None:
        return "it is not over yet"
    took = f"took {show_duration(entry['ended_ms'] - entry['began_ms'])}"
    if outcome != _ASSIGNED:
        return f"{took}; {_OUTCOMES.get(outcome, outcome)}"
    still = entry["stood_still_ms"]
    stood = f"nobody read for {show_duration(still)}" if still else "reading never stood still"
    members = count(entry["member_count"], "member")
    return f"{took}; {stood}; {members}; {_moves(entry['moved'], entry['moved_count'])}"


def _cause(caused: Entry) -> str:
    words = str(caused["cause"])
    if who := caused["who"]:
        name = who["instance_id"] or who["member_id"]
        words += f": {name} (client {who['client_id']} at {who['client_host']})"
    return f"{words}, because “{caused['reason']}”" if caused["reason"] else words


def _moves(moved: Sequence[Entry], number: int) -> str:
    if not moved:
        return "no partition moved"
    told = [
        f"{each['topic']}-{each['partition']} from {each['from'] or 'nobody'} "
        f"to {each['to'] or 'nobody'}"
        for each in moved[:_MOST_MOVES]
    ]
    more = [f"{number - _MOST_MOVES:,} more"] if number > _MOST_MOVES else []
    return f"{count(number, 'partition')} moved: {', '.join(told + more)}"
