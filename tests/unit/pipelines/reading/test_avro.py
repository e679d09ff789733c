"""Avro: plain and with ids of schemas, from writers that have moved on, and poison."""

from __future__ import annotations

import datetime
import io
import json
import pickle
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark

from ottla.pipelines.declaration import Avro
from ottla.pipelines.reading.formats import FormatRefused, decoder, encoder, schema_of
from ottla.pipelines.reading.rows import EncodingRefused, Unreadable
from ottla.pipelines.reading.stopping import RuleStopsPipeline, SchemaIsWider
from ottla.pipelines.reading.wire import header
from tests.pipelines import registry as for_tests
from tests.unit.pipelines.reading.records import records

UTC = datetime.UTC


def record(*fields: Mapping[str, Any], name: str = "View") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


USER = field("user", "string")
VIEW = record(USER, field("count", ["null", "int"]))


def written(schema: Any, row: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), row)
    return stream.getvalue()


def read(schema: Any, *values: bytes | None) -> list[Any]:
    """Rows, and the error where there is none."""
    decoded = decoder(Avro(json.dumps(schema))).decode(records(values))
    errors = {fault.at: fault.error for fault in decoded.faults}
    return [errors.get(at, row) for at, row in enumerate(decoded.rows.to_pylist())]


def test_every_type_has_its_column() -> None:
    place = {**record(field("city", "string"), name="Place"), "namespace": "geo"}
    schema = record(
        field("b", "boolean"), field("i", "int"), field("l", "long"), field("f", "float"),
        field("d", "double"), field("y", "bytes"), field("s", "string"),
        field("e", {"type": "enum", "name": "E", "symbols": ["A", "B"]}),
        field("x", {"type": "fixed", "name": "X", "size": 2}),
        field("day", logical("int", "date")),
        field("ms", logical("long", "timestamp-millis")),
        field("us", ["null", logical("long", "timestamp-micros")]),
        field("local", logical("long", "local-timestamp-millis")),
        field("price", logical("bytes", "decimal", precision=6, scale=2)),
        field("id", logical("string", "uuid")),
        field("places", {"type": "array", "items": place}),
        field("home", ["null", "geo.Place"]),
        field("times", {"type": "map", "values": logical("long", "timestamp-millis")}),
        field("n", ["int", "long"]), field("nothing", "null"),
        field("any", ["null", "string", "long", {"type": "array", "items": "int"}]),
    )  # fmt: skip
    time = datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)
    row = {
        "b": True, "i": 1, "l": 2, "f": 0.5, "d": 0.25, "y": b"y", "s": "s", "e": "B", "x": b"xx",
        "day": datetime.date(2026, 1, 2), "ms": time, "us": time,
        "local": time.replace(tzinfo=None),
        "price": Decimal("12.50"), "id": "6f8d1f3a-6f0c-4f0e-9a53-0f8f1c1e2d3b",
        "places": [{"city": "Bern"}], "home": {"city": "Bonn"}, "times": {"t": time},
        "n": 2**40, "nothing": None, "any": 5,
    }  # fmt: skip
    (found,) = read(schema, written(schema, row))
    members = {"member0": None, "member1": 5, "member2": None}
    assert found == row | {"times": [("t", time)], "any": members}
    kinds = {it.name: it for it in schema_of(Avro(json.dumps(schema)))}
    assert kinds["price"].dataType == spark.DecimalType(6, 2)
    assert kinds["n"].dataType == spark.LongType()
    assert kinds["local"].dataType == spark.TimestampNTZType()
    assert [name for name, it in kinds.items() if it.nullable] == ["us", "home", "nothing", "any"]


def test_what_is_no_record_becomes_one_column() -> None:
    assert read("string", written("string", "a")) == [{"value": "a"}]
    assert read(["null", "long"], b"\x00", b"\x02\x02") == [{"value": None}, {"value": 1}]


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        (record(field("next", ["null", "View"])), "next: View holds itself"),
        (
            record(field("a", ["string", {"type": "enum", "name": "E", "symbols": ["A"]}])),
            "a: a un",
        ),
        (record(field("a", {"type": "array", "items": "null"})), "a: items that take no bytes"),
        (record(field("a", "strin")), "a: there is no type 'strin'"),
        ({"type": "record", "name": "R"}, "this is no schema of Avro: 'fields'"),
    ],
    ids=["itself", "alike", "nothing", "unknown", "incomplete"],
)
def test_a_schema_that_gives_no_rows_is_refused(schema: Any, error: str) -> None:
    with pytest.raises(Unreadable) as refused:
        decoder(Avro(json.dumps(schema)))
    assert str(refused.value).startswith(error)


def test_a_schema_may_be_in_a_file_and_must_be_somewhere(tmp_path: Path) -> None:
    path = tmp_path / "view.avsc"
    path.write_text(json.dumps(VIEW))
    assert schema_of(Avro(str(path))).names == ["user", "count"]
    with pytest.raises(FormatRefused, match=r"cannot be read: .*gone"):
        decoder(Avro(str(tmp_path / "gone.avsc")))
    with pytest.raises(FormatRefused, match="needs a schema or a registry"):
        decoder(Avro())


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"", "the value ends too early"),
        (b"\x02", "the value ends too early"),
        (b"\x02a", "the value ends too early"),
        (b"\x02\xff\x00", "'utf-8' codec"),
        (b"\x02a\x08", "the value ends too early, or has a branch that its schema lacks"),
        (b"\x02a\x00!!", "2 bytes are left over"),
        (b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "the value ends too early"),
        (None, "the record has no value"),
    ],
)
def test_poison_is_a_fault(value: bytes | None, error: str) -> None:
    good = b"\x02a\x00"
    first, found, last = read(VIEW, good, value, good)
    assert first == last == {"user": "a", "count": None}
    assert str(found).lower().startswith(error.lower())


def test_a_time_that_arrow_cannot_hold_is_a_fault() -> None:
    schema = record(field("at", logical("long", "timestamp-millis")))
    far, near = (written(record(field("at", "long")), {"at": ms}) for ms in (2**62, 0))
    found = read(schema, near, far, near)
    assert found[0] == found[2] == {"at": datetime.datetime(1970, 1, 1, tzinfo=UTC)}
    assert found[1].startswith("at: ")


@pytest.fixture
def served() -> Iterator[for_tests.Registry]:
    with for_tests.running() as registry:
        yield registry


def test_each_record_says_by_which_schema_it_was_written(served: for_tests.Registry) -> None:
    """And the registry is asked once for each, whatever the number of records."""
    newer = record(USER, field("count", ["null", "int"]), field("page", "string"))
    older = record(USER)
    ids = [served.register("views-value", json.dumps(it)) for it in (older, newer, VIEW)]
    format = Avro(registry=served.url)
    reading = pickle.loads(pickle.dumps(decoder(format, topic="views")))
    assert reading.schema.names == ["user", "count"]
    rows = [{"user": "a"}, {"user": "b", "count": 1, "page": "p"}, {"user": "c", "count": 2}]
    values = [
        header(id) + written(schema, row)
        for id, schema, row in zip(ids, (older, newer, VIEW), rows, strict=True)
    ]
    served.asked.clear()
    decoded = reading.decode(records(values * 10))
    assert decoded.faults == []
    assert decoded.rows.to_pylist()[:3] == [
        {"user": "a", "count": None},
        {"user": "b", "count": 1},
        {"user": "c", "count": 2},
    ]
    assert sorted(served.asked) == [f"/schemas/ids/{id}" for id in ids]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"\x00\x00", "2 bytes, too few for the id of a schema"),
        (b'{"user": "a"}', "the first byte is 0x7b, not the 0 that a schema's id follows"),
        (header(999) + b"\x02a", "the registry has no schema 999"),
        (header(2) + b"\x02a", "schema 2 is PROTOBUF, not AVRO"),
        (header(3) + b"\x02a", "this is no schema of Avro"),
        (header(1), "the value ends too early"),
    ],
)
def test_a_wrong_front_is_a_fault_and_asked_for_once(
    served: for_tests.Registry, value: bytes, error: str
) -> None:
    served.register("views-value", json.dumps(VIEW))
    served.register("other", "syntax", schemaType="PROTOBUF")
    served.register("third", '{"type": "record"}')
    reading = decoder(Avro(json.dumps(VIEW), registry=served.url))
    decoded = reading.decode(records([value] * 5))
    assert len(decoded.faults) == 5
    assert decoded.faults[4].error.startswith(error)
    assert len(served.asked) <= 1


@pytest.mark.parametrize(
    ("theirs", "line"),
    [
        (record(field("count", ["null", "int"])), "! user: string is gone"),
        (record(USER, field("count", ["null", "string"])), "! count: int became string"),
        (record(field("user", ["null", "string"])), "! user: may be null now"),
    ],
)
def test_a_writer_whose_rows_cannot_be_ours_stops_the_pipeline_with_the_difference(
    served: for_tests.Registry, theirs: Any, line: str
) -> None:
    id = served.register("views-value", json.dumps(theirs))
    reading = decoder(Avro(json.dumps(VIEW), registry=served.url))
    with pytest.raises(
        RuleStopsPipeline, match="OTTLA-STOP schema: records are written with"
    ) as it:
        reading.decode(records([header(id) + b"\x00"]))
    assert line in str(it.value)


def test_a_wider_writer_is_told_apart_from_one_that_breaks(served: for_tests.Registry) -> None:
    id = served.register("views-value", json.dumps(record(USER, field("count", ["null", "long"]))))
    with pytest.raises(SchemaIsWider, match="count: int became bigint, which is wider"):
        decoder(Avro(json.dumps(VIEW), registry=served.url)).decode(records([header(id)]))


def test_other_units_of_time_stop_it_too(served: for_tests.Registry) -> None:
    ours, theirs = (
        record(field("at", logical("long", f"timestamp-{unit}"))) for unit in ("millis", "micros")
    )
    id = served.register("views-value", json.dumps(theirs))
    with pytest.raises(RuleStopsPipeline, match="! at: timestamp-millis became timestamp-micros"):
        decoder(Avro(json.dumps(ours), registry=served.url)).decode(records([header(id) + b"\x00"]))


def test_a_field_with_a_default_may_be_missing(served: for_tests.Registry) -> None:
    id = served.register("views-value", json.dumps(record(USER)))
    ours = record(USER, field("kind", "string", default="page"))
    reading = decoder(Avro(json.dumps(ours), registry=served.url))
    decoded = reading.decode(records([header(id) + b"\x02a"]))
    assert decoded.rows.to_pylist() == [{"user": "a", "kind": "page"}]


def test_a_schema_may_refer_to_others(served: for_tests.Registry) -> None:
    place = record(
        field("city", "string"), field("at", logical("long", "timestamp-millis")), name="P"
    )
    served.register("place", json.dumps(place))
    reference = {"name": "P", "subject": "place", "version": 1}
    view = record(USER, field("place", "P"))
    id = served.register("views-value", json.dumps(view), references=[reference])
    value = header(id) + b"\x02a" + b"\x04oh\xd0\x0f"
    decoded = decoder(Avro(registry=served.url), topic="views").decode(records([value]))
    time = datetime.datetime(1970, 1, 1, 0, 0, 1, 0, UTC)
    assert decoded.rows.to_pylist() == [{"user": "a", "place": {"city": "oh", "at": time}}]


def test_a_folder_of_files_does_as_well(tmp_path: Path) -> None:
    (tmp_path / "7.avsc").write_text(json.dumps(VIEW))
    decoded = decoder(Avro(registry=str(tmp_path))).decode(records([header(7) + b"\x02a\x00"]))
    assert decoded.rows.to_pylist() == [{"user": "a", "count": None}]


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "user": st.text(),
            "count": st.none() | st.integers(-(2**31), 2**31 - 1),
            "at": st.datetimes(timezones=st.just(UTC)),
            "price": st.decimals(-999, 999, places=2),
            "tags": st.dictionaries(st.text(max_size=3), st.binary(max_size=3), max_size=2),
        }
    ),
    max_size=4,
)
WIDE = record(
    USER, field("count", ["null", "int"]), field("at", logical("long", "timestamp-micros")),
    field("price", logical("bytes", "decimal", precision=5, scale=2)),
    field("tags", {"type": "map", "values": "bytes"}),
)  # fmt: skip


@given(ROWS)
def test_rows_come_back_from_avro_as_they_were(rows: list[dict[str, Any]]) -> None:
    format = Avro(json.dumps(WIDE))
    reading = decoder(format)
    given_rows = reading.decode(records([written(WIDE, row) for row in rows])).rows
    writing = pickle.loads(pickle.dumps(encoder(format)))
    again = reading.decode(records(writing.encode(given_rows).to_pylist())).rows
    assert again.equals(given_rows)
    assert again.to_pylist(maps_as_pydicts="strict") == rows


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_no_bytes_raise(values: list[bytes]) -> None:
    decoded = decoder(Avro(json.dumps(WIDE))).decode(records(values))
    assert decoded.rows.null_count == len(decoded.faults)


def test_what_is_written_has_the_id_of_its_schema_which_is_registered(
    served: for_tests.Registry,
) -> None:
    served.register("other", '"int"')
    format = Avro(json.dumps(VIEW), registry=served.url)
    rows = pa.array([{"user": "a", "count": None}])
    (value,) = encoder(format, topic="views").encode(rows).to_pylist()
    assert value == header(2) + b"\x02a\x00"
    assert served.subjects["views-value"] == [2]
    latest = encoder(Avro(registry=served.url, subject="views-value"))
    assert latest.encode(rows).to_pylist() == [value]


def test_a_row_that_the_schema_forbids_is_named() -> None:
    rows = pa.array([{"user": "a"}, {"user": None}])
    with pytest.raises(EncodingRefused, match="row 1: "):
        encoder(Avro(json.dumps(VIEW))).encode(rows)
