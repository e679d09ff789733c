"""One connection to a broker under test, and what came of a frame: answered, closed, silent."""

from __future__ import annotations

import socket
from typing import Any

from ottla.protocol.apis.api_versions import ApiVersionsRequest
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.schema import Message

_TIMEOUT_S = 15
_PROBE_ID = 0x7A11


class Closed(Exception):
    """The broker closed the connection instead of answering."""


class Connection:
    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), _TIMEOUT_S)
        self._stream = self._socket.makefile("rb")

    def send(self, frame: bytes) -> None:
        try:
            self._socket.sendall(frame)
        except ConnectionError as error:
            raise Closed from error

    def receive(self, patience_s: int = _TIMEOUT_S) -> bytes:
        """The next frame without its size; TimeoutError if none comes."""
        self._socket.settimeout(patience_s)
        try:
            size = int.from_bytes(self._stream.read(4), "big")
            frame = self._stream.read(size)
        except ConnectionError as error:
            raise Closed from error
        if not frame:
            raise Closed
        return frame

    def expect_silence(self) -> bool:
        """True if what was sent before got no answer: the next request's comes first."""
        probe = ApiVersionsRequest()
        self.send(encode_request(probe, 0, correlation_id=_PROBE_ID, client_id=None))
        return self.receive()[:4] == _PROBE_ID.to_bytes(4, "big")

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


def ask(bootstrap: str, request: Message, version: int) -> Any:
    """One request on a connection of its own, and what the broker answers."""
    connection = Connection(bootstrap)
    try:
        connection.send(encode_request(request, version, correlation_id=1, client_id="tests"))
        data = connection.receive()
    finally:
        connection.close()
    return decode_response(data, api_key=request.api_key, version=version).body
