"""Faults that a test asks of its broker, over the broker's HTTP port."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

_TIMEOUT_S = 30


class Faults:
    """What happens to the next requests of an API, named as in Kafka: Produce, Fetch, Metadata."""

    def __init__(self, http: str) -> None:
        self.are_set = False  # since they were last cleared
        self._http = http

    def fail(self, api: str, error: str, *, count: int = 1, delay_ms: int = 0) -> None:
        """Answered with this error, by Kafka's name: NOT_LEADER_OR_FOLLOWER."""
        self._add(api=api, error=error, count=count, delay_ms=delay_ms)

    def delay(self, api: str, ms: int, *, count: int = 1) -> None:
        """Served this much later, and what the same client sends after it too."""
        self._add(api=api, delay_ms=ms, count=count)

    def drop(self, api: str, *, count: int = 1, delay_ms: int = 0) -> None:
        """Not served; the connection is closed."""
        self._add(api=api, drop="true", count=count, delay_ms=delay_ms)

    def waiting(self) -> dict[str, int]:
        """How many no request has met yet, by API."""
        waiting: dict[str, int] = _ask(self._http, "GET", "/testing/faults")["waiting"]
        return waiting

    def clear(self) -> None:
        post(self._http, "/testing/faults/clear")
        self.are_set = False

    def _add(self, **query: object) -> None:
        post(self._http, "/testing/faults", **query)
        self.are_set = True


def post(http: str, path: str, **query: object) -> Any:
    """ValueError, in the broker's words, if it finds a mistake."""
    return _ask(http, "POST", f"{path}?{urlencode(query)}")


def _ask(http: str, method: str, target: str) -> Any:
    connection = HTTPConnection(urlsplit(http).netloc, timeout=_TIMEOUT_S)
    try:
        connection.request(method, target)
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise ValueError(body.decode().strip())
    return json.loads(body)
