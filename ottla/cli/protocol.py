"""`ottla protocol`: what Ottla speaks, and what captured bytes say."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import Annotated

import typer

from ottla.cli.apis import Api, all_apis, matching_apis, unknown_api
from ottla.cli.compatibility import compatibility_page
from ottla.cli.decode import decode
from ottla.cli.output import print_table
from ottla.protocol.errors import ErrorCode

protocol = typer.Typer(
    add_completion=False,
    help="What Ottla speaks, and what captured bytes say.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@protocol.command()
def apis(
    name: Annotated[
        str, typer.Argument(help="Only the API with this key, or with this in its name.")
    ] = "",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the APIs: key, versions, the first flexible version, and what each is for.

    The versions are those that Ottla can read and write, as `ottla protocol decode` does; which of
    them its broker serves is in `ottla protocol compatibility`.

    The objects of `--json` have the keys `key`, `name`, `oldest`, `newest`, `flexible_from` (null
    if no version is flexible), `request_header_versions` and `response_header_versions` (one for
    each version, oldest first) and `meaning`.

    Examples:

    - `ottla protocol apis`
    - `ottla protocol apis offset`
    - `ottla protocol apis 18 --json`
    """
    found = matching_apis(name) if name else all_apis()
    if not found:
        raise typer.BadParameter(unknown_api(name))
    if as_json:
        typer.echo(json.dumps([api.to_json() for api in found], indent=2))
        return
    print_table(("key", "API", "versions", "flexible", "what it is"), [_row(api) for api in found])


def _row(api: Api) -> tuple[str, ...]:
    flexible = "-" if api.flexible_from is None else str(api.flexible_from)
    return str(api.key), api.name, api.versions, flexible, api.meaning


@protocol.command()
def errors(
    name: Annotated[
        str, typer.Argument(help="Only the error with this code, or with this in its name.")
    ] = "",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the error codes: what each means, and whether a client should simply try again.

    The objects of `--json` have the keys `code`, `name`, `retriable` and `meaning`.

    Examples:

    - `ottla protocol errors`
    - `ottla protocol errors 41`
    - `ottla protocol errors coordinator --json`
    """
    found = [error for error in ErrorCode if _matches(error, name)]
    if not found:
        near = get_close_matches(name.upper(), [error.name for error in ErrorCode], n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else " The codes are -1 to 133."
        raise typer.BadParameter(f"no error code has {name!r}.{hint}")
    if as_json:
        listed = [
            {"code": e.value, "name": e.name, "retriable": e.retriable, "meaning": e.meaning}
            for e in found
        ]
        typer.echo(json.dumps(listed, indent=2))
        return
    rows = [(str(e.value), e.name, "yes" if e.retriable else "no", e.meaning) for e in found]
    print_table(("code", "name", "retriable", "meaning"), rows)


def _matches(error: ErrorCode, word: str) -> bool:
    return error.value == int(word) if word.isdecimal() else word.upper() in error.name


protocol.command()(decode)


@protocol.command()
def compatibility() -> None:
    """Print docs/COMPATIBILITY.md: every API beside the versions of Apache Kafka.

    Example:

    - `ottla protocol compatibility > docs/COMPATIBILITY.md`
    """
    typer.echo(compatibility_page(), nl=False)
