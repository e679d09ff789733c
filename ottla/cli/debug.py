"""`ottla debug`: what a running broker is doing, asked over its HTTP port."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from ottla.cli.http_port import Url, fetch_document
from ottla.cli.output import print_table, visible

debug = typer.Typer(
    add_completion=False,
    help="What a running broker is doing: who waits, and who is connected.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print what the broker sent, as JSON.")]
Row = Mapping[str, object]

_LEVELS = {"tick_ms": "tick ms", "busy_buckets": "busy buckets", "pending": "pending"}
_PURGATORIES = {
    "name": "purgatory",
    "delayed": "waiting",
    "watched": "watched",
    "finished": "of them finished",
    "keys": "keys",
}
_CONNECTIONS = {
    "id": "id",
    "peer": "peer",
    "listener": "listener",
    "requests": "requests",
    "bytes_in": "bytes in",
    "bytes_out": "bytes out",
    "parked": "parked",
    "idle_ms": "idle ms",
    "client_id": "client",
}
_SOFTWARE = ("client_software_name", "client_software_version")


@debug.command()
def timers(url: Url, *, as_json: AsJson = False) -> None:
    """Show the deadlines on the timing wheel, and the requests that wait in the purgatories.

    The object of `--json` has the keys `timer` (`next_turn_ms`, `now_ms`, `pending`, `due`,
    `busy_buckets`, `levels`) and `purgatories` (each `name`, `delayed`, `watched`, `finished`,
    `keys` and, for the longest lists, `largest`).

    Exit code: 0 done; 1 no broker answers there; 2 wrong call.

    Examples:

    - `ottla debug timers --url http://127.0.0.1:9600`
    - `ottla debug timers --url http://127.0.0.1:9600 --json`
    """
    document = fetch_document(url, "/debug/timers", "timer", "purgatories")
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    timer = document["timer"]
    typer.echo(f"{timer['pending']} deadlines wait. {_next_turn(timer)}\n")
    levels = [_cells(level, _LEVELS) for level in timer["levels"]]
    print_table(tuple(_LEVELS.values()), levels)
    typer.echo()
    rows = [(*_cells(each, _PURGATORIES), _longest(each)) for each in document["purgatories"]]
    print_table((*_PURGATORIES.values(), "most watched"), rows)


@debug.command()
def connections(url: Url, *, as_json: AsJson = False) -> None:
    """List who is connected: what they sent and got, how many of their requests wait.

    The object of `--json` has the key `connections`: a list of objects with the keys `id`, `peer`,
    `listener`, `client_id`, `client_software_name`, `client_software_version`, `requests`,
    `bytes_in`, `bytes_out`, `parked` and `idle_ms`.

    Exit code: 0 done; 1 no broker answers there; 2 wrong call.

    Examples:

    - `ottla debug connections --url http://127.0.0.1:9600`
    - `ottla debug connections --url http://127.0.0.1:9600 --json`
    """
    document = fetch_document(url, "/debug/connections", "connections")
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    rows = [(*_cells(each, _CONNECTIONS), _software(each)) for each in document["connections"]]
    print_table((*_CONNECTIONS.values(), "software"), rows)


def _next_turn(timer: Row) -> str:
    next_ms, now_ms = timer["next_turn_ms"], timer["now_ms"]
    if not isinstance(next_ms, int) or not isinstance(now_ms, int):
        return "The wheel stands still."
    return f"The wheel turns next in {max(0, next_ms - now_ms)} ms."


def _cells(row: Row, columns: Mapping[str, str]) -> list[str]:
    return [_shown(row.get(key)) for key in columns]


def _longest(purgatory: Mapping[str, Sequence[Row]]) -> str:
    return ", ".join(f"{_shown(e['key'])} ({e['watchers']})" for e in purgatory["largest"][:3])


def _software(connection: Row) -> str:
    return " ".join(_shown(connection[key]) for key in _SOFTWARE if connection.get(key))


def _shown(value: object) -> str:
    """Clients choose their names, and a terminal must not obey them."""
    return "-" if value is None else visible(str(value))
