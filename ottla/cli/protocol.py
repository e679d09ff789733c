"""`ottla protocol`: what Ottla speaks, and what captured bytes say."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.apis import Api, all_apis, find_api, matching_apis, unknown_api
from ottla.cli.frames import (
    Capture,
    Reading,
    has_sizes,
    read_requests,
    read_responses,
    read_session,
)
from ottla.cli.hexadecimal import HexError, from_file, from_hex
from ottla.cli.output import fail, print_json, print_json_lines, print_table
from ottla.protocol.errors import ErrorCode

protocol = typer.Typer(
    help="What Ottla speaks, and what captured bytes say.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

_STANDARD_INPUT = "-"


@protocol.command()
def apis(
    name: Annotated[
        str, typer.Argument(help="Only the API with this key, or with this in its name.")
    ] = "",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the APIs: key, versions, the first flexible version, and what each is for.

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


@protocol.command()
def decode(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[HEX]", help="The bytes as hex; spaces, colons and 0x are allowed."
        ),
    ] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Read raw bytes or hex from a file; - is stdin."),
    ] = None,
    response: Annotated[
        bool, typer.Option("--response", help="The bytes are responses; needs --api and --version.")
    ] = False,
    api: Annotated[
        str | None, typer.Option(metavar="NAME|KEY", help="The API that the responses answer.")
    ] = None,
    version: Annotated[
        int | None, typer.Option(metavar="N", help="The version of the request they answer.")
    ] = None,
    responses: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The broker's side of the connection whose requests are read: "
            "each response is read by its correlation id.",
        ),
    ] = None,
    framed: Annotated[
        bool | None,
        typer.Option(
            "--framed/--unframed",
            show_default="detect",
            help="Whether a 4-byte size stands before each message.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Tell requests and responses field by field, as JSON.

    A request says itself what it is. A response does not: name its API and version, or give both
    sides of a captured connection. Records stay base64. Each object has the keys `api`, `key`,
    `version`, `side`, `framed`, `header`, `body`, `trailing_bytes` and `unknown_tags`.

    Examples:

    - `ottla protocol decode 0012000200000007000474657374`
    - `ottla protocol decode --response --api ApiVersions --version 0 00000007002300000000`
    - `xxd -p frame.bin | ottla protocol decode --file - --json`
    - `ottla protocol decode --file sent.bin --responses received.bin`
    """
    named = _named_api(api, version, response=response, paired=responses is not None)
    if file == responses == _STANDARD_INPUT:
        raise typer.BadParameter("only one of --file and --responses can be stdin.")
    capture = _capture(_input(text, file), framed=framed)
    captures = [capture]
    if responses is not None:
        captures.append(_capture(_read_file(responses), framed=framed))
        reading = read_session(*captures)
    elif named:
        reading = read_responses(capture, key=named[0], version=named[1])
    else:
        reading = read_requests(capture)
    _print_reading(reading, as_json=as_json)
    if reading.failure:
        fail(reading.failure + ("" if framed is not None else _hint(captures)))
    if framed is None and not as_json:
        _tell_assumption(captures)


def _named_api(
    api: str | None, version: int | None, *, response: bool, paired: bool
) -> tuple[int, int] | None:
    """The API and version that responses answer; None when nothing need be named."""
    if not response:
        if api is not None or version is not None:
            raise typer.BadParameter(
                "--api and --version go with --response; a request says itself what it is."
            )
        return None
    if paired:
        raise typer.BadParameter("give --response or --responses, not both.")
    if api is None or version is None:
        raise typer.BadParameter(
            "a response does not say what it answers: --response needs --api and --version."
        )
    found = find_api(api)
    if found is None:
        raise typer.BadParameter(unknown_api(api), param_hint="--api")
    if not found.oldest <= version <= found.newest:
        raise typer.BadParameter(
            f"{found.name} has the versions {found.versions}, not {version}.",
            param_hint="--version",
        )
    return found.key, version


def _input(text: str | None, file: str | None) -> bytes:
    if (text is None) == (file is None):
        raise typer.BadParameter("give the bytes as hex or with --file, one of the two.")
    if file is not None:
        return _read_file(file)
    assert text is not None
    try:
        data = from_hex(text)
    except HexError as mistake:
        fail(f"{mistake}. Give hex digits alone; bytes in a file are read with --file.")
    if not data:
        fail("the input is empty. Give the bytes of a request or response as hex digits.")
    return data


def _read_file(name: str) -> bytes:
    try:
        if name == _STANDARD_INPUT:
            content = typer.get_binary_stream("stdin").read()
        else:
            content = Path(name).read_bytes()
    except OSError as error:
        fail(f"cannot read {name}: {error.strerror}. Give --file a file of frames, or - for stdin.")
    place = "stdin" if name == _STANDARD_INPUT else name
    try:
        data = from_file(content)
    except HexError as mistake:
        fail(f"{place}: {mistake}. A text file must hold hex digits alone, as xxd -p prints them.")
    if not data:
        fail(f"{place} is empty. It should hold frames, raw or as hex digits.")
    return data


def _capture(data: bytes, *, framed: bool | None) -> Capture:
    return Capture(data, has_sizes(data) if framed is None else framed)


def _print_reading(reading: Reading, *, as_json: bool) -> None:
    found = [message.to_json() for message in reading.messages]
    if as_json:
        print_json_lines(found)
    elif found:
        print_json(found)


def _tell_assumption(captures: list[Capture]) -> None:
    if all(capture.framed for capture in captures):
        note = "Read as framed, since the sizes fit; --unframed reads otherwise."
    else:
        note = "Read as one message without its size; --framed reads otherwise."
    typer.echo(note, err=True)


def _hint(captures: list[Capture]) -> str:
    if all(capture.framed for capture in captures):
        return ". The sizes fit, so the input was read as framed; --unframed reads otherwise."
    return (
        ". The first 4 bytes are no size that fits the input, so it was read as one message "
        "without its size; if it is a frame that was cut off, --framed tells where."
    )
