"""Avro, plain or with the id of its schema in front, as Confluent's clients write it.

What others wrote with another schema is read as ours, by Avro's rules; if these do not allow it the
pipeline stops and shows the difference.
"""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

import pyarrow as pa
from fastavro import parse_schema, schemaless_reader, schemaless_writer
from fastavro.read import SchemaResolutionError
from fastavro.schema import SchemaParseException

from ottla.pipelines.reading.avro_schema import (
    RowShape,
    loaded,
    row_shape,
    with_nulls,
    without_numbers,
)
from ottla.pipelines.reading.decoded import Decoded
from ottla.pipelines.reading.evolution import Change, changes
from ottla.pipelines.reading.registry import AVRO, Registered
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

_UNREADABLE = (*UNREADABLE, *DEEP, SchemaResolutionError, struct.error)


class AvroSchema:
    """As it was written, and parsed in the ways that it is needed."""

    def __init__(self, written: Registered) -> None:
        try:
            self._json = loaded(written.schema)
            self._references = {name: loaded(text) for name, text in written.references}
            self.shape: RowShape = row_shape(self._json, self._references)
            self.plain = self._parsed(without_numbers)
        except (ValueError, LookupError, TypeError, SchemaParseException) as cause:
            raise Unreadable(f"this is no schema of Avro: {sentence(cause)}") from cause

    def as_reader(self) -> Any:
        return self._parsed(lambda schema: with_nulls(without_numbers(schema)))

    def as_writer(self) -> Any:
        return self._parsed(lambda schema: schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AvroSchema) and self._all == other._all

    __hash__ = None  # type: ignore[assignment]

    @property
    def _all(self) -> tuple[Any, Any]:
        return self._json, self._references

    def _parsed(self, change: Any) -> Any:
        names: dict[str, Any] = {}
        for reference in self._references.values():
            parse_schema(change(reference), names)
        return parse_schema(change(self._json), names)


def _changes(ours: RowShape, theirs: RowShape) -> list[Change]:
    """Both may be times and yet count other units, which Avro's rules do not see."""
    units = [
        Change(path, f"{logical} became {theirs.logical[path]}", is_breaking=True)
        for path, logical in ours.logical.items()
        if theirs.logical.get(path, logical) != logical
    ]
    return changes(ours.schema, theirs.schema, optional=ours.defaults) + units


class AvroDecoder:
    def __init__(self, written: Registered, registry: str | None) -> None:
        """By `written` rows come out; with a registry each record says what it was written by."""
        self._written = written
        self._registry = registry
        self._ours = AvroSchema(written)
        self.schema = self._ours.shape.schema
        self._kind = arrow_type(self.schema)
        self._unknown: dict[bytes, str] = {}
        # Which schemas to read with, by the bytes in front; plain records have none.
        self._readers: dict[bytes, tuple[Any, Any]] = {}
        if registry is None:
            self._readers[b""] = (self._ours.plain, None)

    def __reduce__(self) -> Any:
        return AvroDecoder, (self._written, self._registry)

    def decode(self, records: pa.RecordBatch) -> Decoded:
        mend, readers = self._ours.shape.mend, self._readers
        size = 0 if self._registry is None else HEADER_SIZE
        rows: list[Any] = []
        faults = []
        for index, value in enumerate(records.column("value").to_pylist()):
            try:
                front = value[:size]
                writer, reader = readers.get(front) or self._reader(front)
                stream = BytesIO(value)
                stream.seek(size)
                row = schemaless_reader(stream, writer, reader)
                if stream.tell() != len(value):
                    raise ValueError(f"{len(value) - stream.tell()} bytes are left over")
                rows.append(row if mend is None else mend(row))
            except _UNREADABLE as cause:
                rows.append(None)
                faults.append(fault(index, value, cause))
        return to_arrow(rows, self._kind, faults)

    def _reader(self, front: bytes) -> tuple[Any, Any]:
        """What is not known is asked for once in a task, so that poison does not cost a request
        a record."""
        if (error := self._unknown.get(front)) is not None:
            raise ValueError(error)
        try:
            self._readers[front] = found = self._found(schema_id(front))
        except (ValueError, Unreadable) as cause:
            self._unknown[front] = str(cause)
            raise ValueError(str(cause)) from cause
        return found

    def _found(self, id: int) -> tuple[Any, Any]:
        assert self._registry is not None, "only then a record has an id"
        theirs = AvroSchema(registered(self._registry, id, kind=AVRO))
        if theirs == self._ours:
            return theirs.plain, None
        stop_if_breaking(_changes(self._ours.shape, theirs.shape), id=id)
        return theirs.plain, self._ours.as_reader()


class AvroEncoder:
    def __init__(self, written: Registered, *, has_header: bool) -> None:
        self._written = written
        self._has_header = has_header
        self._schema = AvroSchema(written).as_writer()
        self._front = header(written.id) if has_header else b""

    def __reduce__(self) -> Any:
        return _encoder, (self._written, self._has_header)

    def encode(self, rows: Any) -> Any:
        """Rows as a `pa.StructArray`; EncodingRefused names the first that the schema forbids."""
        encoded = []
        for index, row in enumerate(rows.to_pylist(maps_as_pydicts="strict")):
            stream = BytesIO()
            stream.write(self._front)
            try:
                schemaless_writer(stream, self._schema, row)
            except _UNREADABLE as cause:
                raise EncodingRefused(f"row {index}: {sentence(cause)}") from cause
            encoded.append(stream.getvalue())
        return pa.array(encoded, type=pa.binary())


def _encoder(written: Registered, has_header: bool) -> AvroEncoder:
    return AvroEncoder(written, has_header=has_header)
