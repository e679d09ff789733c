"""Asks a running broker's HTTP port, and says in words what is there instead of an answer."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import Annotated, Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import typer

from ottla.cli.failure import fail

_TIMEOUT_SECONDS = 10

Url = Annotated[
    str,
    typer.Option(
        help="The broker's HTTP port, as it prints it when it starts: http://127.0.0.1:PORT "
        "(its option ottla.http.port).",
        show_default=False,
    ),
]


def fetch_document(url: str, path: str, *expected: str) -> dict[str, Any]:
    """What the broker answers, or the end with a sentence."""
    if not url.startswith("http://"):
        raise typer.BadParameter(f"{url!r} is not like http://127.0.0.1:PORT.", param_hint="--url")
    # Never through a proxy: the port is on this machine's own loopback.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(url.rstrip("/") + path, timeout=_TIMEOUT_SECONDS) as answer:
            document = json.load(answer)
    except HTTPError as refusal:
        refusal.close()
        fail(f"{url} has no {path} (it answered {refusal.code}). Is it a broker's HTTP port?")
    except (HTTPException, ConnectionResetError, ValueError) as cause:
        fail(f"{url} does not answer as a broker's HTTP port does ({cause}). Is it another port?")
    except OSError as cause:
        reason = getattr(cause, "reason", cause)
        fail(f"nobody answers at {url} ({reason}). Is the broker up, and its ottla.http.port set?")
    if not isinstance(document, dict) or not document.keys() >= set(expected):
        fail(f"{url} does not answer {path} as this version of Ottla does.")
    return document
