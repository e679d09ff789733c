"""A broker on loopback that answers as a test says: what it speaks, and one answer for each API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress

from ottla.protocol.apis.api_versions import ApiVersion, ApiVersionsResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import Request, decode_request, encode_response
from ottla.protocol.registry import API_VERSIONS_KEY, request_type
from ottla.protocol.schema import Message

# None: no answer ever comes. Bytes: sent as they are.
Answer = Message | bytes | None
Behaviour = Callable[[Request], Answer]


class ScriptedBroker:
    """Keeps every request it heard, ApiVersions apart."""

    def __init__(
        self,
        behaviour: Behaviour,
        *,
        versions: Mapping[int, tuple[int, int]] | None = None,
        newest_api_versions: int = 4,
    ) -> None:
        self.behaviour = behaviour
        self.heard: list[Request] = []
        self.greetings: list[Request] = []
        self.port = 0
        self.connections = 0
        self._versions = versions
        self._newest_api_versions = newest_api_versions
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ScriptedBroker]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.hang_up()
            await server.wait_closed()

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                request = decode_request(await reader.readexactly(size))
                answer = self._answer(request)
                if isinstance(answer, Message):
                    answer = self._encoded(request, answer)
                if answer is not None:
                    writer.write(answer)

    def _answer(self, request: Request) -> Answer:
        if request.header.request_api_key != API_VERSIONS_KEY:
            self.heard.append(request)
            return self.behaviour(request)
        self.greetings.append(request)
        if request.header.request_api_version > self._newest_api_versions:
            return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[])
        return ApiVersionsResponse(api_keys=self._api_keys())

    def _api_keys(self) -> list[ApiVersion]:
        versions = self._versions or {
            key: (request_type(key).oldest, request_type(key).newest) for key in range(75)
        }
        return [
            ApiVersion(api_key=key, min_version=oldest, max_version=newest)
            for key, (oldest, newest) in versions.items()
        ]

    def _encoded(self, request: Request, answer: Message) -> bytes:
        header = request.header
        version = header.request_api_version
        if isinstance(answer, ApiVersionsResponse) and answer.error_code:
            version = 0  # the one form that any client can read
        return encode_response(answer, version, correlation_id=header.correlation_id)
