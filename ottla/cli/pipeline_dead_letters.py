"""`ottla pipeline dead-letters`: what could not go on, looked at, sent back, or given up."""

from __future__ import annotations

import json

import typer

from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap
from ottla.cli.dead_letter_options import (
    InHex,
    InState,
    LettersTopic,
    ListLimit,
    One,
    Origin,
    Rule,
    Since,
    Until,
    open_letters,
    parse_letter,
    parse_wanted,
)
from ottla.cli.dead_letter_output import letter_to_json, print_letter, print_letters
from ottla.cli.dead_letter_redrive import discard, redrive
from ottla.cli.failure import fail
from ottla.cli.outcomes import count
from ottla.cli.output import visible
from ottla.cli.pipeline_clusters import in_sentences

dead_letters = typer.Typer(
    add_completion=False,
    help="List, show, redrive and discard records that a pipeline laid aside.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@dead_letters.command("list")
@in_sentences
def list_command(
    topic: LettersTopic,
    *,
    rule: Rule = None,
    origin: Origin = None,
    since: Since = "",
    until: Until = "",
    state: InState = None,
    limit: ListLimit = 100,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """List dead letters: where they came from, and why they could not go on.

    States are `waiting`, `redriven` and `discarded`. The objects of `--json` have the keys
    `partition`, `offset`, `laid_aside_ms`, `state`, `pipeline`, `rule`, `error`, `attempts`,
    `origin` (with `topic`, `partition`, `offset` and `timestamp_ms`), `decided_ms`, `redriven_to`
    and `redriven_times`.

    Exit code: 0 listed, even if there are none; 1 failed; 2 wrong call.

    Examples:

    - `ottla pipeline dead-letters list page-views.dlq`
    - `ottla pipeline dead-letters list page-views.dlq --state waiting --rule 'not_null(user_id)'`
    - `ottla pipeline dead-letters list page-views.dlq --origin page-views:3 --since 2026-01-31`
    """
    wanted = parse_wanted(
        rule=rule, origin=origin, since=since, until=until, state=state, limit=limit + 1
    )
    with open_letters(bootstrap, topic) as letters:
        found = list(letters.find(wanted))
    if as_json:
        typer.echo(json.dumps([letter_to_json(each) for each in found[:limit]], indent=2))
        return
    if found:
        print_letters(found[:limit])
    else:
        typer.echo(f"There are no such dead letters in {visible(topic)}.")
    if len(found) > limit:
        typer.echo(f"There are more than {limit:,}: say --limit, or which.", err=True)
    if letters.strangers:
        typer.echo(f"Left out: {count(letters.strangers, 'record')} of somebody else.", err=True)


@dead_letters.command()
@in_sentences
def show(
    topic: LettersTopic,
    letter: One,
    *,
    as_hex: InHex = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Show one dead letter whole: why it is there, and its key, headers and value.

    Bytes that are no text are shown in hexadecimal. The object of `--json` has also `key`, `value`
    and `headers`; there bytes that are no text are an object with `base64`.

    Exit code: 0 shown; 1 there is no such letter; 2 wrong call.

    Examples:

    - `ottla pipeline dead-letters show page-views.dlq 0:17`
    - `ottla pipeline dead-letters show page-views.dlq 0:17 --hex`
    """
    partition, offset = parse_letter(letter)
    with open_letters(bootstrap, topic) as letters:
        found = letters.get(partition, offset)
    if found is None:
        fail(f"{topic} has no dead letter {letter}.")
    if as_json:
        typer.echo(json.dumps(letter_to_json(found, whole=True), indent=2))
    else:
        print_letter(topic, found, in_hex=as_hex)


dead_letters.command()(redrive)
dead_letters.command()(discard)
