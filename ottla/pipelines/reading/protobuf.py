"""Protobuf, plain or with the id of its schema in front, as Confluent's clients write it.

After the id stands which message of the schema it is: how many numbers follow, and these; a single
zero says the first. What a newer writer adds is skipped, as Protobuf has it.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from google.protobuf.message import DecodeError, EncodeError

from ottla.pipelines.reading.decoded import Decoded
from ottla.pipelines.reading.evolution import changes
from ottla.pipelines.reading.proto_rows import message_rows
from ottla.pipelines.reading.proto_schema import ProtobufSchema
from ottla.pipelines.reading.registry import PROTOBUF, Registered
from ottla.pipelines.reading.rows import (
    DEEP,
    UNREADABLE,
    EncodingRefused,
    Unreadable,
    arrow_type,
    fault,
    sentence,
    to_arrow,
)
from ottla.pipelines.reading.wire import (
    HEADER_SIZE,
    header,
    registered,
    schema_id,
    stop_if_breaking,
)

_UNREADABLE = (*UNREADABLE, *DEEP, DecodeError)
_MOST_INDEXES = 32  # messages inside of messages


class ProtobufDecoder:
    def __init__(self, written: Registered, message: str, registry: str | None) -> None:
        """By `written` rows come out; with a registry each record says what it was written by."""
        self._written = written
        self._message = message
        self._registry = registry
        schema = ProtobufSchema(written)
        self._rows = message_rows(schema.message(message))
        self._parse = schema.message_class(message).FromString
        self.schema = self._rows.schema
        self._kind = arrow_type(self.schema)
        self._unknown: dict[bytes, str] = {}
        self._starts: dict[bytes, int] = {}  # by what is in front, where the message begins

    def __reduce__(self) -> Any:
        return ProtobufDecoder, (self._written, self._message, self._registry)

    def decode(self, records: pa.RecordBatch) -> Decoded:
        parse, get, has_header = self._parse, self._rows.get, self._registry is not None
        rows: list[Any] = []
        faults = []
        for index, value in enumerate(records.column("value").to_pylist()):
            try:
                rows.append(get(parse(value[self._start(value) :] if has_header else value)))
            except _UNREADABLE as cause:
                rows.append(None)
                faults.append(fault(index, value, cause))
        return to_arrow(rows, self._kind, faults)

    def _start(self, value: bytes) -> int:
        id = schema_id(value)
        size, indexes = _indexes(value)
        front = value[:size]
        if front in self._starts:
            return size
        if front not in self._unknown:
            try:
                self._check(id, indexes)
                self._starts[front] = size
                return size
            except (ValueError, Unreadable) as cause:
                self._unknown[front] = str(cause)
        raise ValueError(self._unknown[front])

    def _check(self, id: int, indexes: list[int]) -> None:
        assert self._registry is not None, "only then a record has an id"
        theirs = ProtobufSchema(registered(self._registry, id, kind=PROTOBUF))
        name = theirs.name_at(indexes)
        if name != self._message:
            raise ValueError(f"the record is a {name}, not a {self._message}")
        rows = message_rows(theirs.message(name))
        stop_if_breaking(changes(self.schema, rows.schema), id=id)


def _indexes(value: bytes) -> tuple[int, list[int]]:
    """Where they end, and they themselves."""
    at = HEADER_SIZE
    numbers: list[int] = []
    wanted = 1
    while len(numbers) < wanted:
        number, at = _zigzag(value, at)
        if wanted == 1 and not numbers and number > 0:
            wanted = min(number, _MOST_INDEXES) + 1
        numbers.append(number)
    return at, numbers[1:] or [0]


def _zigzag(value: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = value[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number >> 1 ^ -(number & 1), at
        if shift > 63:
            raise ValueError("the place of its message is no number")


class ProtobufEncoder:
    def __init__(self, written: Registered, message: str, *, has_header: bool) -> None:
        self._written = written
        self._message = message
        self._has_header = has_header
        schema = ProtobufSchema(written)
        self._fill = message_rows(schema.message(message)).fill
        self._class = schema.message_class(message)
        self._front = b""
        if has_header:
            self._front = header(written.id) + _encoded_indexes(schema.indexes_of(message))

    def __reduce__(self) -> Any:
        return _encoder, (self._written, self._message, self._has_header)

    def encode(self, rows: Any) -> Any:
        """Rows as a `pa.StructArray`; EncodingRefused names the first that the schema forbids."""
        encoded = []
        for index, row in enumerate(rows.to_pylist(maps_as_pydicts="strict")):
            message = self._class()
            try:
                self._fill(message, row)
                encoded.append(self._front + message.SerializeToString())
            except (*UNREADABLE, EncodeError) as cause:
                raise EncodingRefused(f"row {index}: {sentence(cause)}") from cause
        return pa.array(encoded, type=pa.binary())


def _encoder(written: Registered, message: str, has_header: bool) -> ProtobufEncoder:
    return ProtobufEncoder(written, message, has_header=has_header)


def _encoded_indexes(indexes: list[int]) -> bytes:
    if indexes == [0]:
        return b"\0"
    return b"".join(_varint(number << 1) for number in (len(indexes), *indexes))


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
