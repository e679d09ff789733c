"""Asks a broker for what a measurement needs: topics, and their leaders."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.schema import Message

_ANSWER_TIMEOUT_S = 120
_LEADERS_TIMEOUT_S = 120
M = TypeVar("M", bound=Message)


class Admin:
    """Waits where a broker takes its time, so that a run begins when all is ready."""

    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.split(":")
        self.address = (host, int(port))
        self._made = 0

    def ask(self, request: Message, version: int, response: type[M]) -> M:
        """On a new connection: one that is silent through the other broker's turns is closed."""
        frame = encode_request(request, version, correlation_id=1, client_id="benchmark")
        with (
            socket.create_connection(self.address, _ANSWER_TIMEOUT_S) as connection,
            connection.makefile("rb") as stream,
        ):
            connection.sendall(frame)
            answer = stream.read(int.from_bytes(stream.read(4), "big"))
        body = decode_response(answer, api_key=request.api_key, version=version).body
        assert isinstance(body, response)
        return body

    @contextmanager
    def fresh_topic(self, partitions: int = 1) -> Iterator[str]:
        """Never seen before, and gone afterwards: no run reads or writes what another left."""
        topic = self.fresh_name("benchmark")
        self.create_topic(topic, partitions)
        try:
            yield topic
        finally:
            self._delete_topic(topic)

    def create_topic(self, topic: str, partitions: int) -> None:
        """Returns when each of its partitions has a leader."""
        wanted = CreatableTopic(
            name=topic, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
        )
        answer = self.ask(CreateTopicsRequest(topics=[wanted]), 4, CreateTopicsResponse)
        _expect_none(answer.topics[0].error_code, f"create {topic}")
        self.wait_until_led(topic, partitions)

    def wait_until_led(self, topic: str, partitions: int) -> None:
        give_up = time.perf_counter() + _LEADERS_TIMEOUT_S
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
        while time.perf_counter() < give_up:
            found = self.ask(request, 4, MetadataResponse).topics[0].partitions
            if len([each for each in found if each.leader_id >= 0]) == partitions:
                return
        raise TimeoutError(f"{topic} has no leaders after {_LEADERS_TIMEOUT_S} s")

    def find_coordinator(self, group: str) -> int:
        """An error's code, or 0."""
        return self.ask(FindCoordinatorRequest(key=group), 2, FindCoordinatorResponse).error_code

    def fresh_name(self, kind: str) -> str:
        """All of one length, so that the frames with them are."""
        self._made += 1
        return f"{kind}-{self._made:05}"

    def _delete_topic(self, topic: str) -> None:
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=_ANSWER_TIMEOUT_S * 1000)
        answer = self.ask(request, 3, DeleteTopicsResponse)
        _expect_none(answer.responses[0].error_code, f"delete {topic}")


def answers(address: tuple[str, int]) -> bool:
    """Whether a broker tells there who it is."""
    admin = Admin(f"{address[0]}:{address[1]}")
    try:
        return bool(admin.ask(MetadataRequest(topics=[]), 1, MetadataResponse).brokers)
    except OSError:
        return False


def _expect_none(code: int, what: str) -> None:
    if code:
        raise RuntimeError(f"{what}: {ErrorCode(code).name}")
