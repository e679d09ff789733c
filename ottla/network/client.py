"""Our own requests to a broker: one connection, many requests, answers told apart by their ids.

Knows nothing of clusters: who leads what, and whether to try again, is for those who use it.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import NamedTuple

from ottla import __version__
from ottla.protocol.apis.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.protocol.errors import ErrorCode, KafkaError, ProtocolError
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.registry import API_NAMES, API_VERSIONS_KEY
from ottla.protocol.schema import Message

DEFAULT_MAX_RESPONSE_BYTES = 100 * 1024 * 1024
_SIZE_BYTES = 4
_FIRST_API_VERSIONS = 3  # what every broker since Kafka 2.4 knows; older ones answer in version 0
_LAST_CORRELATION_ID = 0x7FFF_FFFF
# How others begin that may listen where somebody expects a broker.
_STRANGERS = {b"HT": "; this is an HTTP server", b"\x15\x03": "; this port wants TLS"}


class Disconnected(ConnectionError):
    """The connection ended before the answer came; whether the request was done is not known."""


class UnsupportedVersion(KafkaError):
    """The broker and we share no version of an API, or none that can say what is asked."""

    def __init__(self, detail: str) -> None:
        super().__init__(ErrorCode.UNSUPPORTED_VERSION, detail)


class Versions(NamedTuple):
    oldest: int
    newest: int

    def __str__(self) -> str:
        return f"{self.oldest} to {self.newest}" if self.oldest != self.newest else f"{self.oldest}"


class _Waiting(NamedTuple):
    api_key: int
    version: int
    answer: asyncio.Future[Message]


async def connect(
    host: str,
    port: int,
    *,
    client_id: str,
    timeout_ms: int,
    max_response_bytes: int = DEFAULT_MAX_RESPONSE_BYTES,
) -> BrokerClient:
    """A connection whose broker has said what it speaks. `timeout_ms` also bounds each request."""
    loop = asyncio.get_running_loop()
    client = BrokerClient(
        f"{host}:{port}",
        client_id=client_id,
        timeout_ms=timeout_ms,
        max_response_bytes=max_response_bytes,
    )
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            await loop.create_connection(lambda: client, host, port)
    except TimeoutError as cause:
        raise TimeoutError(f"{client.peer} did not accept within {timeout_ms} ms") from cause
    with ExitStack() as undo:
        undo.callback(client.close)
        await client.negotiate()
        undo.pop_all()
    return client


class BrokerClient(asyncio.Protocol):
    """Made by `connect`. Any number of requests may wait at once; all end when it ends."""

    def __init__(
        self, peer: str, *, client_id: str, timeout_ms: int, max_response_bytes: int
    ) -> None:
        self.peer = peer
        self.versions: dict[int, Versions] = {API_VERSIONS_KEY: Versions(0, _FIRST_API_VERSIONS)}
        self._client_id = client_id
        self._timeout_ms = timeout_ms
        self._max_response_bytes = max_response_bytes
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._waiting: dict[int, _Waiting] = {}
        self._correlation_id = 0
        self._end = f"{peer} is not connected"

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    async def request(
        self, message: Message, *, version: int | None = None, timeout_ms: int | None = None
    ) -> Message:
        """The answer, in the highest version that both sides know unless one is given.

        A request that is never answered (Produce with acks 0) has no place here. After a timeout
        the connection is closed: what is asked later would only wait behind the lost answer.
        """
        if version is None:
            version = self.pick_version(type(message))
        answer = self._send(message, version)
        limit_ms = self._timeout_ms if timeout_ms is None else timeout_ms
        try:
            async with asyncio.timeout(limit_ms / 1000):
                return await answer
        except TimeoutError as cause:
            lost = f"{self.peer} did not answer {_name(message.api_key)} within {limit_ms} ms"
            self._finish(lost)
            raise TimeoutError(lost) from cause

    def pick_version(
        self, message: type[Message], *, at_least: int = 0, at_most: int = 0x7FFF
    ) -> int:
        """The highest version that the broker, we, and the limits allow."""
        name = _name(message.api_key)
        served = self.versions.get(message.api_key)
        if served is None:
            raise UnsupportedVersion(f"{self.peer} does not serve {name}")
        ours = Versions(max(message.oldest, at_least), min(message.newest, at_most))
        newest = min(ours.newest, served.newest)
        if newest < max(ours.oldest, served.oldest):
            detail = f"{self.peer} serves {name} in version {served}, this needs version {ours}"
            raise UnsupportedVersion(detail)
        return newest

    async def negotiate(self) -> None:
        """Learns what the broker speaks; `connect` has done it."""
        question = ApiVersionsRequest(
            client_software_name="ottla", client_software_version=__version__
        )
        answer = await self._ask_versions(question, _FIRST_API_VERSIONS)
        if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            answer = await self._ask_versions(question, 0)
        if answer.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(answer.error_code), f"{self.peer} refused ApiVersions")
        self.versions = {
            each.api_key: Versions(each.min_version, each.max_version) for each in answer.api_keys
        }

    async def _ask_versions(
        self, question: ApiVersionsRequest, version: int
    ) -> ApiVersionsResponse:
        answer = await self.request(question, version=version)
        assert isinstance(answer, ApiVersionsResponse)
        return answer

    def close(self) -> None:
        self._finish(f"the connection to {self.peer} was closed here")

    def _send(self, message: Message, version: int) -> asyncio.Future[Message]:
        if self._transport is None:
            raise Disconnected(self._end)
        self._correlation_id = (self._correlation_id + 1) & _LAST_CORRELATION_ID
        frame = encode_request(
            message, version, correlation_id=self._correlation_id, client_id=self._client_id
        )
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[self._correlation_id] = _Waiting(message.api_key, version, answer)
        self._transport.write(frame)
        return answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        try:
            position = self._take_frames()
        except ProtocolError as broken:
            self._finish(f"{self.peer} sent what is no answer: {broken.detail}")
        else:
            del self._received[:position]

    def connection_lost(self, exc: Exception | None) -> None:
        waited = ", ".join(_name(each.api_key) for each in self._waiting.values())
        before = f" before it answered {waited}" if waited else ""
        self._finish(f"{self.peer} closed the connection{before}{f' ({exc})' if exc else ''}")

    def _take_frames(self) -> int:
        """Hands out the whole frames received so far; the position of what is left."""
        position = 0
        while len(self._received) - position >= _SIZE_BYTES and self._transport is not None:
            start = position + _SIZE_BYTES
            size = int.from_bytes(self._received[position:start], "big", signed=True)
            if not _SIZE_BYTES <= size <= self._max_response_bytes:
                cause = f"the size {size} is not between 4 and {self._max_response_bytes}"
                cause += _STRANGERS.get(bytes(self._received[position : position + 2]), "")
                raise ProtocolError(cause, reading="response", path="size")
            if len(self._received) < start + size:
                break
            position = start + size
            self._take_answer(bytes(memoryview(self._received)[start:position]))
        return position

    def _take_answer(self, frame: bytes) -> None:
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        waiting = self._waiting.pop(correlation_id, None)
        if waiting is None:
            cause = f"nothing was asked with the id {correlation_id}"
            raise ProtocolError(cause, reading="response header", path="correlation_id")
        if waiting.answer.done():
            return  # whoever asked was cancelled meanwhile
        try:
            response = decode_response(frame, api_key=waiting.api_key, version=waiting.version)
        except ProtocolError as broken:
            waiting.answer.set_exception(broken)
            raise
        waiting.answer.set_result(response.body)

    def _finish(self, why: str) -> None:
        """Closes for good; those who wait hear why. The first reason is the one that counts."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        self._end = why
        transport.abort()
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            if not each.answer.done():
                each.answer.set_exception(Disconnected(why))


def _name(api_key: int) -> str:
    return API_NAMES.get(api_key, f"API {api_key}")
