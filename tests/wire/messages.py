"""Checks one case of a vector file: a message, a header, a frame, a stored record, a capture.

Each function returns None, or one sentence that says what differs.
"""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64decode
from importlib import import_module
from typing import Any

from ottla.protocol.codec import decode_at, encode
from ottla.protocol.framing import decode_request, decode_response, encode_frame
from ottla.protocol.headers import RequestHeader, ResponseHeader
from ottla.protocol.layout import ArrayOf, Kind, default_of, layout_of
from ottla.protocol.plain import PlainReader, PlainWriter
from ottla.protocol.primitives import STRING, Fixed, Sized
from ottla.protocol.readable import json_name, to_json
from ottla.protocol.registry import request_type, response_type
from ottla.protocol.schema import Message, Struct

Case = dict[str, Any]

_INTERNAL = {
    "ConsumerGroup": "consumer_group",
    "ConsumerProtocol": "consumer_protocol",
    "OffsetCommit": "offset_commit",
    "GroupMetadata": "group_metadata",
    "TransactionLog": "transaction_log",
    "DefaultPrincipal": "principal",
}


def check_message(case: Case) -> str | None:
    """A body alone, of a request or a response."""
    types = request_type if case["side"] == "request" else response_type
    return _check_body(types(case["key"]), case["version"], case)


def check_header(case: Case) -> str | None:
    """A header alone, or a whole frame."""
    if case["what"] == "header":
        header_type = RequestHeader if case["side"] == "request" else ResponseHeader
        return _check_body(header_type, case["version"], case)
    return _check_frame(case)


def check_internal(case: Case) -> str | None:
    """A stored record, or one of the messages inside other messages."""
    name, version = case["schema"], case["version"]
    module = next(
        (m for prefix, m in _INTERNAL.items() if name.startswith(prefix)), "control_records"
    )
    cls: type[Message] = getattr(import_module(f"ottla.protocol.internal.{module}"), name)
    if name == "ControlRecordKey":
        case = {**case, "json": {key: case["json"][key] for key in ("version", "type")}}
    return _check_body(cls, version, case)


def check_capture(case: Case) -> str | None:
    """A request and its response as they went over the wire between real programs."""
    request = decode_request(bytes.fromhex(case["request_hex"]))
    version = case["version"]
    wrong = _differs(
        "request header",
        to_json(request.header, case["request_header_version"]),
        case["request_header"],
    )
    wrong = wrong or _differs("request", to_json(request.body, version), case["request_json"])
    wrong = wrong or _differs(
        "trailing bytes", request.trailing_bytes, case.get("request_trailing_bytes", 0)
    )
    if not wrong and case["request_exact"]:
        again = encode_frame(request.header, case["request_header_version"], request.body, version)
        wrong = _differs("request bytes", again[4:].hex(), case["request_hex"])
    if wrong or case["response_hex"] is None:
        return wrong
    return _check_captured_response(case)


def _check_captured_response(case: Case) -> str | None:
    version = case["response_version"]
    frame = bytes.fromhex(case["response_hex"])
    response = decode_response(frame, api_key=case["key"], version=case["version"])
    wrong = _differs("response", to_json(response.body, version), case["response_json"])
    if not wrong and case["response_exact"]:
        again = encode_frame(
            response.header, case["response_header_version"], response.body, version
        )
        wrong = _differs("response bytes", again[4:].hex(), case["response_hex"])
    return wrong


def _check_body(cls: type[Message], version: int, case: Case) -> str | None:
    """Bytes to values to bytes, and the JSON's values to bytes; compiled and plain alike."""
    data = bytes.fromhex(case["hex"])
    message, end = decode_at(cls, data, version)
    tags = [(tag["tag"], bytes.fromhex(tag["hex"])) for tag in case.get("unknown_tags", [])]
    built = from_json(cls, case["json"], version)
    built.unknown_tags = tags or ()
    return (
        _differs(
            "flexible", cls.is_flexible(version), case.get("flexible", cls.is_flexible(version))
        )
        or _differs("end", end, len(data))
        or _differs("values", to_json(message, version), case["json"])
        or _differs("unknown tags", list(message.unknown_tags), tags)
        or _differs("bytes", encode(message, version).hex(), case["hex"])
        or _differs("bytes from the JSON", encode(built, version).hex(), case["hex"])
        or _differs("plain values", PlainReader(cls, version, data).message(), message)
        or _differs("plain bytes", PlainWriter(message, version).message().hex(), case["hex"])
    )


def _check_frame(case: Case) -> str | None:
    """A frame: size, header, body."""
    frame = bytes.fromhex(case["hex"])
    if case["side"] == "request":
        found: Any = decode_request(frame[4:])
    else:
        found = decode_response(frame[4:], api_key=case["key"], version=case["version"])
    again = encode_frame(found.header, case["header_version"], found.body, case["version"])
    return (
        _differs("header", to_json(found.header, case["header_version"]), case["header"])
        or _differs("values", to_json(found.body, case["version"]), case["json"])
        or _differs("trailing bytes", found.trailing_bytes, 0)
        or _differs("bytes", again.hex(), case["hex"])
    )


def _differs(what: str, found: Any, wanted: Any) -> str | None:
    return None if found == wanted else f"{what}: {found!r:.600} instead of {wanted!r:.600}"


def from_json(cls: type[Message], values: dict[str, Any], version: int) -> Message:
    """The message that Kafka's JSON describes: the reverse of `to_json`."""
    message = _struct(cls, values, version, flexible=cls.is_flexible(version))
    assert isinstance(message, Message)
    return message


def _struct(cls: type[Struct], values: dict[str, Any], version: int, *, flexible: bool) -> Struct:
    layout = layout_of(cls, version, flexible=flexible)
    struct = cls.__new__(cls)
    struct.unknown_tags = ()
    for slot in [slot for slot, _ in layout.absent] + layout.tagged:
        setattr(struct, slot.name, default_of(slot))
    for slot in layout.inline + layout.tagged:
        name = json_name(slot.name)
        if name in values or slot.tag is None:
            setattr(struct, slot.name, _value(slot.kind, values[name], version, flexible))
    return struct


def _value(kind: Kind, value: Any, version: int, flexible: bool) -> Any:
    if value is None:
        return None
    if isinstance(kind, ArrayOf):
        return [_value(kind.element, item, version, flexible) for item in value]
    if isinstance(kind, type):
        return _struct(kind, value, version, flexible=flexible)
    if isinstance(kind, Fixed) and kind.name == "uuid":
        return urlsafe_b64decode(value + "==")
    if isinstance(kind, Sized) and kind is not STRING:
        return b64decode(value)
    return value
