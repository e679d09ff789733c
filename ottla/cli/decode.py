"""`ottla protocol decode`: captured requests and responses, told field by field."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.apis import find_api, unknown_api
from ottla.cli.failure import fail
from ottla.cli.frames import (
    Capture,
    Reading,
    has_sizes,
    read_detecting,
    read_requests,
    read_responses,
    read_session,
)
from ottla.cli.hexadecimal import HexError, from_file, from_hex
from ottla.cli.output import print_json, print_json_lines

_STANDARD_INPUT = "-"
# All that is read is held, several times as large, until it is printed.
_MOST_BYTES = 256 * 1024 * 1024

Hex = Annotated[
    str | None,
    typer.Argument(metavar="[HEX]", help="The bytes as hex; spaces, colons and 0x are allowed."),
]
File = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Read raw bytes or hex from a file; - is stdin."),
]
IsResponse = Annotated[
    bool, typer.Option("--response", help="The bytes are responses; needs --api and --version.")
]
ApiName = Annotated[
    str | None, typer.Option(metavar="NAME|KEY", help="The API that the responses answer.")
]
Version = Annotated[
    int | None, typer.Option(metavar="N", help="The version of the request they answer.")
]
Responses = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="The broker's side of the connection whose requests are read: "
        "each response is read by its correlation id.",
    ),
]
Framed = Annotated[
    bool | None,
    typer.Option(
        "--framed/--unframed",
        show_default="detect",
        help="Whether a 4-byte size stands before each message.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]


def decode(
    text: Hex = None,
    *,
    file: File = None,
    response: IsResponse = False,
    api: ApiName = None,
    version: Version = None,
    responses: Responses = None,
    framed: Framed = None,
    as_json: AsJson = False,
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
    data = _input(text, file)
    if responses is not None:
        captures: Sequence[Capture] = (
            _capture(data, framed=framed),
            _capture(_read_file(responses), framed=framed),
        )
        reading = read_session(*captures)
    else:
        capture, reading = _read(data, named, framed=framed)
        captures = (capture,)
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
        fail(f"{mistake}. The argument is hex; bytes in a file are read with --file.")
    if not data:
        fail("the input is empty. Give the bytes of a request or response as hex digits.")
    return data


def _read_file(name: str) -> bytes:
    try:
        content = _content(name)
    except OSError as error:
        fail(f"cannot read {name}: {error.strerror}. Give --file a file of frames, or - for stdin.")
    place = "stdin" if name == _STANDARD_INPUT else name
    if len(content) > _MOST_BYTES:
        fail(f"{place} holds more than {_MOST_BYTES} bytes. Give a part of it, as head -c does.")
    try:
        data = from_file(content)
    except HexError as mistake:
        fail(f"{place}: {mistake}. A text file must hold hex digits alone, as xxd -p prints them.")
    if not data:
        fail(f"{place} is empty. It should hold frames, raw or as hex digits.")
    return data


def _content(name: str) -> bytes:
    if name == _STANDARD_INPUT:
        return typer.get_binary_stream("stdin").read(_MOST_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _read(
    data: bytes, named: tuple[int, int] | None, *, framed: bool | None
) -> tuple[Capture, Reading]:
    read = partial(read_responses, key=named[0], version=named[1]) if named else read_requests
    if framed is None:
        return read_detecting(data, read)
    capture = Capture(data, framed)
    return capture, read(capture)


def _capture(data: bytes, *, framed: bool | None) -> Capture:
    return Capture(data, has_sizes(data) if framed is None else framed)


def _print_reading(reading: Reading, *, as_json: bool) -> None:
    found = [message.to_json() for message in reading.messages]
    if as_json:
        print_json_lines(found)
    elif found:
        print_json(found)


def _tell_assumption(captures: Sequence[Capture]) -> None:
    if all(capture.framed for capture in captures):
        note = "Read as framed, since the sizes fit; --unframed reads otherwise."
    else:
        note = "Read as one message without its size; --framed reads otherwise."
    typer.echo(note, err=True)


def _hint(captures: Sequence[Capture]) -> str:
    if all(capture.framed for capture in captures):
        return ". The sizes fit, so the input was read as framed; --unframed reads otherwise."
    return (
        ". It was read as one message without its size; if it begins with a size, "
        "--framed tells where it breaks off."
    )
