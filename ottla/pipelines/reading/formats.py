"""Which decoder reads a format, and what its rows look like."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from pyspark.sql import types as spark

from ottla.pipelines.declaration import Avro, Csv, Format, Json, Protobuf, Raw, Text
from ottla.pipelines.reading.avro import AvroDecoder, AvroEncoder
from ottla.pipelines.reading.csv_rows import CsvDecoder
from ottla.pipelines.reading.decoded import Decoder, Encoder
from ottla.pipelines.reading.json_rows import JsonDecoder
from ottla.pipelines.reading.proto_schema import files_of
from ottla.pipelines.reading.protobuf import ProtobufDecoder, ProtobufEncoder
from ottla.pipelines.reading.registry import AVRO, Registered, open_registry
from ottla.pipelines.reading.whole import RawDecoder, TextDecoder

_DESCRIPTORS = (".desc", ".binpb", ".pb")


class FormatRefused(Exception):
    """The format was not declared whole; the message says what is missing."""


def decoder(format: Format, *, topic: str = "") -> Decoder:
    """The topic names the subject in a registry, where none was given. May ask the registry."""
    match format:
        case Raw():
            return RawDecoder()
        case Text():
            return TextDecoder()
        case Json(schema):
            return JsonDecoder(_needed(schema, "json"))
        case Csv(schema, delimiter):
            return CsvDecoder(_needed(schema, "csv"), delimiter)
        case Avro():
            return AvroDecoder(_avro(format, topic), format.registry)
        case Protobuf():
            return ProtobufDecoder(_protobuf(format, topic), format.message, format.registry)
    assert_never(format)


def schema_of(format: Format, *, topic: str = "") -> spark.StructType:
    return decoder(format, topic=topic).schema


def encoder(format: Avro | Protobuf, *, topic: str = "") -> Encoder:
    """Of rows for a topic. A schema that was declared is registered, if it is not yet."""
    match format:
        case Avro():
            written = _to_write(format, _avro(format, topic), topic)
            return AvroEncoder(written, has_header=bool(format.registry))
        case Protobuf():
            written = _to_write(format, _protobuf(format, topic), topic)
            return ProtobufEncoder(written, format.message, has_header=bool(format.registry))
    assert_never(format)


def _needed(schema: spark.StructType | None, word: str) -> spark.StructType:
    if schema is None:
        raise FormatRefused(f"{word} is read by a schema, and has none: {word}(PageView)")
    return schema


def _subject(format: Avro | Protobuf, topic: str) -> str:
    return format.subject or f"{topic}-value"


def _avro(format: Avro, topic: str) -> Registered:
    if format.schema is not None:
        return Registered(0, AVRO, _avro_text(format.schema).encode())
    if format.registry is None:
        raise FormatRefused("avro needs a schema or a registry: avro(schema='views.avsc')")
    return open_registry(format.registry).latest(_subject(format, topic))


def _protobuf(format: Protobuf, topic: str) -> Registered:
    if format.schema is not None:
        return files_of(format.schema, _file)
    if format.registry is None:
        raise FormatRefused("protobuf needs a schema or a registry: schema='shop/order.proto'")
    return open_registry(format.registry).latest(_subject(format, topic))


def _to_write(format: Avro | Protobuf, written: Registered, topic: str) -> Registered:
    if format.registry is None or format.schema is None:
        return written
    registry, subject = open_registry(format.registry), _subject(format, topic)
    if written.references or format.schema.endswith(_DESCRIPTORS):
        # A registry takes no sets, and what is imported has subjects that only its owner knows.
        return written._replace(id=registry.latest(subject).id)
    id = registry.register(subject, kind=written.kind, schema=written.schema.decode())
    return written._replace(id=id)


def _avro_text(schema: str) -> str:
    """The schema itself begins as JSON does; everything else is a path."""
    if schema.lstrip()[:1] in ("{", "[", '"'):
        return schema
    return _file(schema).decode()


def _file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as cause:
        raise FormatRefused(f"the schema cannot be read: {cause}") from cause
