"""`ottla transactions`: what is open, what holds readers back, what hangs, and ending that."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ottla.admin import transactions as admin
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, on_cluster
from ottla.cli.durations import parse_duration
from ottla.cli.transaction_abort import abort
from ottla.cli.transaction_describe import describe
from ottla.cli.transaction_hanging import find_hanging
from ottla.cli.transaction_names import complete_state, parse_state
from ottla.cli.transaction_output import known_to_json, print_list
from ottla.timing.clock import SystemClock

transactions = typer.Typer(
    add_completion=False,
    help="Show what is open and what it holds back; find and end what hangs.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
States = Annotated[
    list[str] | None,
    typer.Option(
        "--state", "-s", help="Only in this state; repeat it.", autocompletion=complete_state
    ),
]
ProducerIds = Annotated[list[int] | None, typer.Option(help="Only of this producer; repeat it.")]
OlderThan = Annotated[
    str,
    typer.Option(metavar="HOW-LONG", help="Only if open for longer: 90s, 15m.", show_default=False),
]


@transactions.command("list")
def list_command(
    *,
    state: States = None,
    producer_id: ProducerIds = None,
    older_than: OlderThan = "",
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """List the transactional ids of all brokers, with their states and what is open of them.

    States are Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort and Dead.
    The objects of `--json` have the keys `transactional_id`, `state`, `producer_id`,
    `producer_epoch`, `timeout_ms`, `started_ms` and `open_ms` (null if nothing is open),
    `coordinator` and `partitions`.

    Examples:

    - `ottla transactions list`
    - `ottla transactions list --state ongoing --older-than 1m --json`
    """
    states = [parse_state(each) for each in state or ()]
    longer_ms = parse_duration(older_than) if older_than else 0
    found = on_cluster(
        bootstrap,
        lambda cluster: admin.list_transactions(
            cluster, states=states, producer_ids=producer_id or ()
        ),
    )
    now_ms = SystemClock().now_ms()
    if older_than:
        found = [each for each in found if (each.started_ms or now_ms) < now_ms - longer_ms]
    if as_json:
        typer.echo(json.dumps([known_to_json(each, now_ms=now_ms) for each in found], indent=2))
    elif found:
        print_list(found, now_ms=now_ms)
    else:
        filtered = states or producer_id or older_than
        typer.echo(f"There are no {'such ' if filtered else ''}transactional ids.")


transactions.command()(describe)
transactions.command("find-hanging")(find_hanging)
transactions.command()(abort)
