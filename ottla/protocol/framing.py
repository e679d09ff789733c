"""Frames and headers: a size, a header whose form depends on the API and version, then the body."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct as Packing
from typing import Any, NamedTuple

from ottla.protocol.codec import decode_at, encode_into
from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.headers import RequestHeader, ResponseHeader
from ottla.protocol.primitives import RecordsElsewhere
from ottla.protocol.registry import (
    API_VERSIONS_KEY,
    request_header_version,
    request_type,
    response_header_version,
    response_type,
)
from ottla.protocol.schema import Message
from ottla.protocol.varint import Buffer

_SIZE = Packing(">i")
_KEY_AND_VERSION = Packing(">hh")


class Request(NamedTuple):
    """A request as it stands in a frame; `trailing_bytes` came after its body and mean nothing."""

    header: RequestHeader
    body: Message
    trailing_bytes: int


class Response(NamedTuple):
    """A response as it stands in a frame; `version` is the one its body has."""

    header: ResponseHeader
    body: Message
    version: int
    trailing_bytes: int


def split_frames(data: Buffer, *, max_bytes: int = 0x7FFF_FFFF) -> Iterator[memoryview]:
    """The frames in `data`, without their sizes. A frame that is cut off is refused."""
    view = memoryview(data)
    position = 0
    while position < len(view):
        left = len(view) - position - _SIZE.size
        if left < 0:
            cause = f"{len(view) - position} bytes are left, a size needs 4"
            raise ProtocolError(cause, reading="frame", path="size", offset=position)
        (size,) = _SIZE.unpack_from(view, position)
        if not 0 <= size <= max_bytes:
            cause = f"the size {size} is not between 0 and {max_bytes}"
            raise ProtocolError(cause, reading="frame", path="size", offset=position)
        if size > left:
            cause = f"the size says {size} bytes, {left} are left"
            raise ProtocolError(cause, reading="frame", path="size", offset=position)
        position += _SIZE.size
        yield view[position : position + size]
        position += size


def decode_request(frame: Buffer) -> Request:
    """The request in a frame without its size; the header says which API and version it is."""
    data = bytes(frame)
    if len(data) < _KEY_AND_VERSION.size:
        cause = f"{len(data)} bytes are too few for an API key and version"
        raise ProtocolError(cause, reading="request header", path="request_api_key", offset=0)
    key, version = _KEY_AND_VERSION.unpack_from(data)
    body_type = request_type(key)
    if not body_type.oldest <= version <= body_type.newest:
        raise ProtocolError(
            f"{body_type.__name__} has the versions {body_type.oldest} to {body_type.newest}, "
            f"not {version}",
            reading="request header",
            path="request_api_version",
            offset=2,
            code=ErrorCode.UNSUPPORTED_VERSION,
        )
    header, position = decode_at(RequestHeader, data, request_header_version(key, version))
    body, end = decode_at(body_type, data, version, position)
    return Request(header, body, len(data) - end)


def decode_response(frame: Buffer, *, api_key: int, version: int) -> Response:
    """The response in a frame without its size. A response does not say what it answers.

    A broker that does not know the version of an ApiVersions request answers in version 0: it is
    told by its error, and read so.
    """
    data = bytes(frame)
    body_type = response_type(api_key)
    header, position = decode_at(ResponseHeader, data, response_header_version(api_key, version))
    if api_key == API_VERSIONS_KEY and data[position : position + 2] == _UNSUPPORTED_VERSION:
        version = 0
    body, end = decode_at(body_type, data, version, position)
    return Response(header, body, version, len(data) - end)


def encode_request(
    body: Message, version: int, *, correlation_id: int, client_id: str | None
) -> bytes:
    """The whole frame of a request, size included."""
    header = RequestHeader(
        request_api_key=body.api_key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    return encode_frame(header, request_header_version(body.api_key, version), body, version)


def encode_response(body: Message, version: int, *, correlation_id: int) -> bytes:
    """The whole frame of a response, size included."""
    header = ResponseHeader(correlation_id=correlation_id)
    return encode_frame(header, response_header_version(body.api_key, version), body, version)


def encode_response_pieces(
    body: Message, version: int, *, correlation_id: int
) -> list[bytes | RecordsElsewhere]:
    """As `encode_response`, but records that lie elsewhere stay pieces of their own."""
    parts: list[Any] = [b""]
    key = body.api_key
    encode_into(
        parts.append,
        ResponseHeader(correlation_id=correlation_id),
        response_header_version(key, version),
    )
    encode_into(parts.append, body, version)
    parts[0] = _SIZE.pack(sum(map(len, parts)))
    try:
        return [b"".join(parts)]
    except TypeError:  # records that lie elsewhere cannot be joined
        return _pieces(parts)


def _pieces(parts: list[Any]) -> list[bytes | RecordsElsewhere]:
    pieces: list[bytes | RecordsElsewhere] = []
    joined = 0
    for index, part in enumerate(parts):
        if type(part) is not bytes and hasattr(part, "size_bytes"):
            pieces += [b"".join(parts[joined:index]), part]
            joined = index + 1
    if joined < len(parts):
        pieces.append(b"".join(parts[joined:]))
    return pieces


def encode_frame(header: Message, header_version: int, body: Message, version: int) -> bytes:
    parts = [b""]
    encode_into(parts.append, header, header_version)
    encode_into(parts.append, body, version)
    parts[0] = _SIZE.pack(sum(map(len, parts)))
    return b"".join(parts)


_UNSUPPORTED_VERSION = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")
