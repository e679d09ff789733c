"""What reading costs: decoding beside the bare library, the contract and counts beside decoding,
and wrong input beside good."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import fastavro
import msgspec
import pyarrow as pa
from pyspark.sql.types import StructType

from benchmarks.timing import fastest_us
from ottla.pipelines.declaration import Avro, Json, Otherwise
from ottla.pipelines.declare import between, matches, not_null, one_of
from ottla.pipelines.reading.decoded import Decoder
from ottla.pipelines.reading.formats import decoder
from ottla.pipelines.reading.registry import AVRO, HttpRegistry, Registered, open_registry
from ottla.pipelines.reading.side import Chunk
from ottla.pipelines.reading.stage import ReadingStage
from ottla.pipelines.schema import structure

COUNT = 10_000  # of a batch that Spark hands over
SHAPE = {
    "event_id": "string", "user_id": "string or null", "page": "string", "at": "timestamp",
    "duration_ms": "int", "ratio": "double",
}  # fmt: skip
RULES = [
    not_null("user_id"), between("duration_ms", 0, 1_000_000), one_of("page", "/a", "/b", "/c"),
    matches("event_id", "e-[0-9]+"),
]  # fmt: skip
AVRO_SCHEMA = {
    "type": "record",
    "name": "PageView",
    "fields": [
        {"name": "event_id", "type": "string"},
        {"name": "user_id", "type": ["null", "string"]},
        {"name": "page", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "duration_ms", "type": "int"},
        {"name": "ratio", "type": "double"},
    ],
}


def view(index: int) -> dict[str, Any]:
    return {
        "event_id": f"e-{index}", "user_id": f"user-{index % 97}", "page": "/" + "abc"[index % 3],
        "at": 1_700_000_000_000 + index, "duration_ms": index, "ratio": index / 7,
    }  # fmt: skip


def batch(values: list[bytes]) -> pa.RecordBatch:
    count = len(values)
    times = [1_700_000_000_000_000 + index for index in range(count)]
    return pa.record_batch(
        {
            "key": pa.array([b"user-%d" % (index % 97) for index in range(count)]),
            "value": pa.array(values, type=pa.binary()),
            "topic": pa.array(["views"] * count),
            "partition": pa.array([0] * count, type=pa.int32()),
            "offset": pa.array(range(count), type=pa.int64()),
            "timestamp": pa.array(times, type=pa.timestamp("us", tz="UTC")),
            "headers": pa.nulls(count, type=pa.string()),
            "key_crc": pa.array([12345] * count, type=pa.int64()),
        }
    )


class Decoded:
    """A decoder for which it is done already."""

    def __init__(self, schema: StructType, rows: Any) -> None:
        self.schema = schema
        self._rows = rows

    def decode(self, records: pa.RecordBatch) -> Any:
        return self._rows


def stage(decoding: Decoder, rules: Any) -> ReadingStage:
    nobody: Any = None
    return ReadingStage(decoding, rules, Otherwise.DEAD_LETTER, nobody)


def avro_values() -> list[bytes]:
    plain = fastavro.parse_schema(
        AVRO_SCHEMA | {"fields": [it | {"type": _plain(it["type"])} for it in _fields()]}
    )
    values = []
    for index in range(COUNT):
        stream = io.BytesIO()
        stream.write(struct.pack(">BI", 0, 7))
        fastavro.schemaless_writer(stream, plain, view(index))
        values.append(stream.getvalue())
    return values


def _fields() -> list[Any]:
    fields = AVRO_SCHEMA["fields"]
    assert isinstance(fields, list)
    return fields


def _plain(kind: Any) -> Any:
    return kind["type"] if isinstance(kind, dict) else kind


def show(what: str, us: float, beside: float, *, at_most: float | None = None) -> None:
    ratio = us / beside
    verdict = (
        ""
        if at_most is None
        else f"  at most {at_most:.2f}: " + ("met" if ratio <= at_most else "MISSED")
    )
    print(f"{what:<44} {us / COUNT:>6.2f} us a record {ratio:>6.2f}{verdict}")


def json_beside_the_bare_decoder() -> None:
    values = [json.dumps(view(index)).encode() for index in range(COUNT)]
    bare = msgspec.json.Decoder().decode
    reading = decoder(Json(structure(SHAPE)))
    checked = stage(reading, RULES)
    good, bad = batch(values), batch([value[:-9] for value in values])
    wrong = batch([value.replace(b'"/', b'"x/') for value in values])
    # By itself: as a difference of two long times it would drown in their noise.
    checks_only = stage(Decoded(reading.schema, reading.decode(good)), RULES)
    bare_us, decode_us, rules_us, check_us, bad_us, wrong_us = fastest_us(
        lambda: [bare(value) for value in values],
        lambda: reading.decode(good),
        lambda: checks_only.read(good, Chunk()),
        lambda: checked.read(good, Chunk()),
        lambda: checked.read(bad, Chunk()),
        lambda: checked.read(wrong, Chunk()),
    )
    show("JSON: bare msgspec", bare_us, bare_us)
    show("JSON: decoded to Arrow", decode_us, bare_us)
    show("JSON: counts and four rules, beside decoded", rules_us, decode_us, at_most=0.15)
    show("JSON: all truncated, beside good", bad_us, check_us, at_most=2.0)
    show("JSON: all break a rule, beside good", wrong_us, check_us, at_most=2.0)


def avro_beside_the_bare_loop() -> None:
    values = avro_values()
    schema = fastavro.parse_schema(AVRO_SCHEMA)
    known = Registered(7, AVRO, json.dumps(AVRO_SCHEMA).encode())
    place = "http://nobody.invalid"
    served = open_registry(place)
    assert isinstance(served, HttpRegistry)
    served._known[7] = known
    reading = decoder(Avro(json.dumps(AVRO_SCHEMA), registry=place))
    checked = stage(reading, RULES)
    good, bad = batch(values), batch([value[:-9] for value in values])
    bare_us, decode_us, check_us, bad_us = fastest_us(
        lambda: [
            fastavro.schemaless_reader(io.BytesIO(value[5:]), schema, None) for value in values
        ],
        lambda: reading.decode(good),
        lambda: checked.read(good, Chunk()),
        lambda: checked.read(bad, Chunk()),
    )
    show("Avro: bare fastavro", bare_us, bare_us)
    show("Avro: decoded to Arrow", decode_us, bare_us, at_most=1 / 0.6)
    show("Avro: all truncated, beside good", bad_us, check_us, at_most=2.0)


def main() -> None:
    json_beside_the_bare_decoder()
    avro_beside_the_bare_loop()


if __name__ == "__main__":
    main()
