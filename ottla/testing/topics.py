"""Topics of tests, made and deleted over the wire.

On a plain socket that blocks: a test may have an event loop of its own, and be inside it.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TypeVar

from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.schema import Message

_TIMEOUT_MS = 30_000
_BROKER_DEFAULT = -1
_CREATE_VERSION = 7
_DELETE_VERSION = 5  # the last that names topics in a plain list
# Zero time to wait for it, or the test itself was faster.
_ON_ITS_WAY = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

Answer = TypeVar("Answer", bound=Message)


def create_topic(bootstrap: str, name: str, *, partitions: int, configs: Mapping[str, str]) -> None:
    """Returns when the broker leads its partitions; KafkaError if it refuses."""
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=_BROKER_DEFAULT,
        assignments=[],
        configs=[CreatableTopicConfig(name=key, value=configs[key]) for key in configs],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS)
    (result,) = _ask(bootstrap, request, CreateTopicsResponse, version=_CREATE_VERSION).topics
    if result.error_code != ErrorCode.NONE:
        raise KafkaError(ErrorCode(result.error_code), f"{name}: {result.error_message}")


def delete_topic(bootstrap: str, name: str) -> None:
    """Returns when the broker has taken it on; the files go later."""
    request = DeleteTopicsRequest(topic_names=[name], timeout_ms=0)
    (result,) = _ask(bootstrap, request, DeleteTopicsResponse, version=_DELETE_VERSION).responses
    if result.error_code not in _ON_ITS_WAY:
        raise KafkaError(ErrorCode(result.error_code), f"{name}: {result.error_message}")


def _ask(bootstrap: str, request: Message, answer: type[Answer], *, version: int) -> Answer:
    host, _, port = bootstrap.rpartition(":")
    frame = encode_request(request, version, correlation_id=1, client_id="ottla-testing")
    with socket.create_connection((host.strip("[]"), int(port)), _TIMEOUT_MS / 1000) as connection:
        connection.sendall(frame)
        with connection.makefile("rb") as stream:
            answered = stream.read(int.from_bytes(stream.read(4)))
    body = decode_response(answered, api_key=request.api_key, version=version).body
    assert isinstance(body, answer)
    return body
