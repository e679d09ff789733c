"""Stands between a client and its broker, and loses what it is told to.

An answer that is lost lets an idempotent producer send again what the broker has; a request that
is lost leaves a gap before the next one. After either, the connection breaks.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from struct import Struct
from typing import IO

from ottla.protocol.apis.produce import ProduceResponse
from ottla.protocol.framing import decode_response

PRODUCE = 0
_HEAD = Struct(">hhi")


class Loss(Enum):
    ANSWER = "the broker has done it, and nobody hears"
    REQUEST = "the broker never hears; what follows reaches it"


class LosingProxy:
    """Listens at `address`, and leads to `broker_port` once that is known."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self.broker_port = 0
        self.lost = 0
        self.produce_errors: list[int] = []  # of every partition in every answer of the broker
        self._plan: list[Loss | None] = []
        self._links: list[_Link] = []
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def lose(self, *plan: Loss | None) -> None:
        """What becomes of the next produce requests, one by one; None lets one pass."""
        self._plan, self.lost, self.produce_errors = list(plan), 0, []

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                try:
                    broker = socket.create_connection(("127.0.0.1", self.broker_port))
                except OSError:
                    client.close()  # the broker has ended
                else:
                    self._links.append(_Link(self, client, broker))

    def next_loss(self) -> Loss | None:
        loss = self._plan.pop(0) if self._plan else None
        self.lost += loss is not None
        return loss

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)  # which ends the wait for the next client
        self._thread.join()
        self._server.close()
        for link in self._links:
            link.close()


class _Link:
    """One connection. Requests and answers pass in threads of their own."""

    def __init__(self, proxy: LosingProxy, client: socket.socket, broker: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._broker = broker
        self._versions: dict[int, int] = {}  # of produce requests, by correlation id
        self._lost_answers: list[int] = []
        self._lost_request: int | None = None

        works = (self._pass_requests, self._pass_answers)
        self._threads = [threading.Thread(target=self._run, args=(work,)) for work in works]
        for thread in self._threads:
            thread.start()

    def _run(self, work: Callable[[], None]) -> None:
        with suppress(OSError):
            work()
        self._break()

    def _break(self) -> None:
        for sock in (self._client, self._broker):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._break()
        for thread in self._threads:
            thread.join()
        self._client.close()
        self._broker.close()

    def _pass_requests(self) -> None:
        with self._client.makefile("rb") as stream:
            for frame in _frames(stream):
                key, version, correlation_id = _HEAD.unpack_from(frame)
                loss = self._proxy.next_loss() if key == PRODUCE else None
                if loss is Loss.REQUEST:
                    self._lost_request = correlation_id
                    continue
                if loss is Loss.ANSWER:
                    self._lost_answers.append(correlation_id)
                if key == PRODUCE:
                    self._versions[correlation_id] = version
                self._broker.sendall(len(frame).to_bytes(4, "big") + frame)

    def _pass_answers(self) -> None:
        with self._broker.makefile("rb") as stream:
            for frame in _frames(stream):
                correlation_id = int.from_bytes(frame[:4], "big")
                self._note(correlation_id, frame)
                # A gap shows by what comes after it.
                is_after = self._lost_request is not None and correlation_id > self._lost_request
                if is_after or correlation_id in self._lost_answers:
                    return
                self._client.sendall(len(frame).to_bytes(4, "big") + frame)

    def _note(self, correlation_id: int, frame: bytes) -> None:
        version = self._versions.get(correlation_id)
        if version is None:
            return
        answer = decode_response(frame, api_key=PRODUCE, version=version).body
        assert isinstance(answer, ProduceResponse)
        self._proxy.produce_errors += [
            partition.error_code
            for topic in answer.responses
            for partition in topic.partition_responses
        ]


def _frames(stream: IO[bytes]) -> Iterator[bytes]:
    while size := stream.read(4):
        yield stream.read(int.from_bytes(size, "big"))
