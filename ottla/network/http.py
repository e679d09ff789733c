"""A small HTTP/1.1 server for the loopback port: metrics, health, what debuggers ask.

One request a connection. Routes are plain functions and answer at once, so there is no task and
nothing to cancel; what is slow, large or no HTTP is refused or cut off. An answer that takes long
to make comes in pieces: one in each round of the loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast
from urllib.parse import parse_qsl, unquote

Answer = tuple[int, str, bytes | Iterator[bytes]]
Route = Callable[[dict[str, str]], Answer]

MOST_CONNECTIONS = 100
MOST_HEAD_BYTES = 8 * 1024
MOST_BODY_BYTES = 64 * 1024
MOST_SECONDS = 10.0
_HEAD_END = b"\r\n\r\n"


class HttpServer:
    """Routes by path. A route gets the query, and answers with status, content type and body."""

    def __init__(
        self,
        *,
        get: Mapping[str, Route],
        post: Mapping[str, Route] | None = None,
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        self.routes: dict[str, Mapping[str, Route]] = {"GET": get, "POST": post or {}}
        self.most_seconds = most_seconds
        self.open: dict[_Exchange, None] = {}
        self._server: asyncio.Server | None = None

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @property
    def port(self) -> int:
        assert self._server is not None, "not started"
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def start(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Exchange(self), host, port)

    async def close(self) -> None:
        """Also cuts off whoever is connected."""
        if self._server is not None:
            self._server.close()
            for exchange in list(self.open):
                exchange.abort()
            await self._server.wait_closed()

    def methods(self, path: str) -> list[str]:
        return [method for method, routes in self.routes.items() if path in routes]

    def answer(self, request: Request) -> Answer:
        route = self.routes.get(request.method, {}).get(request.path)
        if route is not None:
            return route(request.query)
        if allowed := self.methods(request.path):
            return _refusal(405, f"{request.path} takes {' or '.join(allowed)}")
        known = sorted({**self.routes["GET"], **self.routes["POST"]})
        return _refusal(404, f"there is no {request.path}; there are: {' '.join(known)}")


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    body_bytes: int


class BadRequest(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def parse_head(head: bytes) -> Request:
    """The request line and headers, without the empty line that ends them."""
    first, *lines = head.decode("latin-1").split("\r\n")
    match first.split(" "):
        case [method, target, "HTTP/1.0" | "HTTP/1.1"] if target.startswith("/"):
            path, _, query = target.partition("?")
        case _:
            raise BadRequest(400, "the first line is not: METHOD /path HTTP/1.1")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequest(400, "a header is not: Name: value")
        headers[name.lower()] = value.strip()
    if "transfer-encoding" in headers:
        raise BadRequest(411, "send a Content-Length instead of a Transfer-Encoding")
    size = headers.get("content-length", "0")
    if not (size.isascii() and size.isdecimal()):
        raise BadRequest(400, "Content-Length is no number")
    if len(size) > 9 or int(size) > MOST_BODY_BYTES:
        raise BadRequest(413, f"the body is larger than {MOST_BODY_BYTES} bytes")
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    return Request(method, unquote(path), parameters, int(size))


def json_answer(document: object) -> tuple[int, str, bytes]:
    return 200, "application/json", json.dumps(document).encode()


def _refusal(status: int, why: str) -> tuple[int, str, bytes]:
    return status, "text/plain; charset=utf-8", f"{why}\n".encode()


_BUG = _refusal(500, "this is a bug; the broker's log says more")


class _Exchange(asyncio.Protocol):
    """One connection: a request, an answer, the end."""

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._received = bytearray()
        self._request: Request | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # what create_server makes
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(self._server.most_seconds, self.abort)
        if len(self._server.open) >= MOST_CONNECTIONS:
            self.abort()
        else:
            self._server.open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        self._server.open.pop(self, None)

    def abort(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        try:
            if self._request is None:
                self._request = self._take_head()
        except BadRequest as refusal:
            self._send(*_refusal(refusal.status, str(refusal)))
            return
        # A body says nothing here, but an answer sent before it was read could be lost.
        if self._request is not None and len(self._received) >= self._request.body_bytes:
            self._answer(self._request)

    def _take_head(self) -> Request | None:
        end = self._received.find(_HEAD_END)
        if max(end, len(self._received) if end < 0 else 0) > MOST_HEAD_BYTES:
            raise BadRequest(431, f"the headers are longer than {MOST_HEAD_BYTES} bytes")
        if end < 0:
            return None
        head = bytes(self._received[:end])
        del self._received[: end + len(_HEAD_END)]
        return parse_head(head)

    def _answer(self, request: Request) -> None:
        self._transport.pause_reading()  # what else comes says nothing
        answer: Answer = _BUG
        try:
            answer = self._server.answer(request)
        finally:
            # If a route raises, asyncio reports it and closes the connection, after this.
            status, content_type, body = answer
            if isinstance(body, bytes):
                self._send(status, content_type, body)
            else:
                self._collect(status, content_type, body, [])

    def _collect(
        self, status: int, content_type: str, pieces: Iterator[bytes], made: list[bytes]
    ) -> None:
        """Sent when it is whole: only then its length is known."""
        if self._transport.is_closing():
            return
        piece, has_failed = None, True
        try:
            piece, has_failed = next(pieces, None), False
        finally:
            if has_failed:
                self._send(*_BUG)
        if piece is None:
            self._send(status, content_type, b"".join(made))
        else:
            made.append(piece)
            loop = asyncio.get_running_loop()
            loop.call_soon(self._collect, status, content_type, pieces, made)

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
            f"Content-Type: {content_type}\r\n"
            f"Content-Length: {len(body)}\r\n"
            "Cache-Control: no-store\r\n"
            "Connection: close\r\n"
        )
        if status == HTTPStatus.METHOD_NOT_ALLOWED and self._request is not None:
            head += f"Allow: {', '.join(self._server.methods(self._request.path))}\r\n"
        self._transport.write(f"{head}\r\n".encode("latin-1") + body)
        self._transport.close()
