"""Captured bytes as messages: cut into frames, read, and paired with what they answer."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from struct import Struct as Packing

from ottla.protocol.errors import ProtocolError
from ottla.protocol.framing import (
    decode_request,
    decode_response,
    split_frames,
)
from ottla.protocol.readable import json_name, to_json
from ottla.protocol.registry import (
    API_NAMES,
    request_header_version,
    response_header_version,
)
from ottla.protocol.schema import Message, Struct

_SIZE_BYTES = 4
_KEY_VERSION_CORRELATION = Packing(">hhi")
_CORRELATION = Packing(">i")


@dataclass(frozen=True, slots=True)
class Capture:
    """Bytes of one side of a connection; `framed` if each message comes after its size."""

    data: bytes
    framed: bool


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one frame says."""

    side: str
    key: int
    version: int
    framed: bool
    header: dict[str, object]
    body: dict[str, object]
    trailing_bytes: int
    unknown_tags: list[dict[str, object]]

    def to_json(self) -> dict[str, object]:
        return {
            "api": API_NAMES[self.key],
            "key": self.key,
            "version": self.version,
            "side": self.side,
            "framed": self.framed,
            "header": self.header,
            "body": self.body,
            "trailing_bytes": self.trailing_bytes,
            "unknown_tags": self.unknown_tags,
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """The messages that could be read, and what stopped the reading, if anything did."""

    messages: list[Decoded]
    failure: str | None


def has_sizes(data: bytes) -> bool:
    """Whether the input is frames, each after its size, with nothing left over."""
    try:
        return bool(data) and all(len(frame) for frame in split_frames(data))
    except ProtocolError:
        return False


def read_detecting(data: bytes, read: Callable[[Capture], Reading]) -> tuple[Capture, Reading]:
    """Takes the input as framed if its sizes fit, unless only the other way can be read.

    A response begins with its correlation id, which may well be the number of bytes behind it.
    """
    capture = Capture(data, has_sizes(data))
    reading = read(capture)
    if capture.framed and reading.failure:
        whole = Capture(data, framed=False)
        other = read(whole)
        if not other.failure:
            return whole, other
    return capture, reading


def read_requests(capture: Capture) -> Reading:
    return _read(_request(frame) for frame in _frames(capture, "request"))


def read_responses(capture: Capture, *, key: int, version: int) -> Reading:
    return _read(
        _response(frame, key=key, version=version) for frame in _frames(capture, "response")
    )


def read_session(requests: Capture, responses: Capture) -> Reading:
    """Both sides of one connection: every request, and after it what answered it."""
    return _read(_session(requests, responses))


class _UnreadableError(Exception):
    """What ends a reading, as a sentence."""


@dataclass(frozen=True, slots=True)
class _Frame:
    data: bytes
    framed: bool
    name: str  # for what goes wrong: which frame, and where it begins

    def begin(self, packing: Packing) -> tuple[int, ...]:
        if len(self.data) < packing.size:
            cause = f"{len(self.data)} bytes are too few for a header"
            raise _UnreadableError(f"{self.name}: {cause}")
        return packing.unpack_from(self.data)


def _read(messages: Iterable[Decoded]) -> Reading:
    found: list[Decoded] = []
    try:
        found.extend(messages)
    except _UnreadableError as failure:
        return Reading(found, str(failure))
    return Reading(found, None)


def _frames(capture: Capture, side: str) -> Iterator[_Frame]:
    if not capture.framed:
        yield _Frame(capture.data, framed=False, name=f"the {side}")
        return
    start = 0
    try:
        for number, content in enumerate(split_frames(capture.data), 1):
            start += _SIZE_BYTES
            name = f"{side} {number}, which begins at byte {start}"
            yield _Frame(bytes(content), framed=True, name=name)
            start += len(content)
    except ProtocolError as error:
        advice = "It was cut off, or its messages have no sizes: --unframed reads one without."
        raise _UnreadableError(f"the {side}s: {error}. {advice}") from error


def _session(requests: Capture, responses: Capture) -> Iterator[Decoded]:
    """A client may use an id again; answers come in order, so the oldest request is meant."""
    answers: defaultdict[int, deque[_Frame]] = defaultdict(deque)
    cut_off = None
    try:
        for frame in _frames(responses, "response"):
            answers[frame.begin(_CORRELATION)[0]].append(frame)
    except _UnreadableError as failure:
        cut_off = failure  # what came before it is worth showing first
    for request in _frames(requests, "request"):
        key, version, correlation_id = request.begin(_KEY_VERSION_CORRELATION)
        yield _request(request)
        if answers[correlation_id]:
            yield _response(answers[correlation_id].popleft(), key=key, version=version)
    if cut_off:
        raise cut_off
    for correlation_id, left in answers.items():
        for frame in left:
            raise _UnreadableError(
                f"{frame.name}: no request is left with correlation id {correlation_id}. "
                "Are both files of the same connection?"
            )


def _request(frame: _Frame) -> Decoded:
    try:
        request = decode_request(frame.data)
    except ProtocolError as error:
        raise _UnreadableError(f"{frame.name}: {error}") from error
    key, version = request.header.request_api_key, request.header.request_api_version
    return Decoded(
        side="request",
        key=key,
        version=version,
        framed=frame.framed,
        header=to_json(request.header, request_header_version(key, version)),
        body=to_json(request.body, version),
        trailing_bytes=request.trailing_bytes,
        unknown_tags=_unknown_tags(request.header, request.body),
    )


def _response(frame: _Frame, *, key: int, version: int) -> Decoded:
    try:
        response = decode_response(frame.data, api_key=key, version=version)
    except ProtocolError as error:
        raise _UnreadableError(f"{frame.name}: {error}") from error
    header_version = response_header_version(key, version)
    return Decoded(
        side="response",
        key=key,
        version=response.version,
        framed=frame.framed,
        header=to_json(response.header, header_version),
        body=to_json(response.body, response.version),
        trailing_bytes=response.trailing_bytes,
        unknown_tags=_unknown_tags(response.header, response.body),
    )


def _unknown_tags(header: Message, body: Message) -> list[dict[str, object]]:
    return [*_tags_under("header", header), *_tags_under("body", body)]


def _tags_under(path: str, value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _tags_under(f"{path}[{index}]", item)
    elif isinstance(value, Struct):
        for tag, content in value.unknown_tags:
            yield {"path": path, "tag": tag, "hex": content.hex()}
        for field in value.fields:
            yield from _tags_under(f"{path}.{json_name(field.name)}", getattr(value, field.name))
