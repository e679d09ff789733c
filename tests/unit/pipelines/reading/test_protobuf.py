"""Protobuf: plain and with ids of schemas, from writers that have moved on, and poison."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark

from ottla.pipelines.declaration import Protobuf
from ottla.pipelines.reading.contract import nulls
from ottla.pipelines.reading.formats import FormatRefused, decoder, encoder, schema_of
from ottla.pipelines.reading.proto_schema import ProtobufSchema
from ottla.pipelines.reading.proto_source import parse
from ottla.pipelines.reading.protobuf import ProtobufDecoder, ProtobufEncoder
from ottla.pipelines.reading.registry import PROTOBUF, Registered
from ottla.pipelines.reading.rows import EncodingRefused, Unreadable, arrow_type
from ottla.pipelines.reading.stopping import SchemaIsWider
from ottla.pipelines.reading.wire import header
from tests.pipelines import registry as for_tests
from tests.unit.pipelines.reading.records import records

UTC = datetime.UTC
ORDER = """
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/struct.proto";
import "confluent/meta.proto";

message Other {}
message Order {
  enum State { NEW = 0; PAID = 1; }
  message Line { string sku = 1; uint64 count = 2; }
  string id = 1;
  optional int32 rank = 2;
  State state = 3;
  repeated Line lines = 4;
  map<string, Line> by_sku = 5;
  map<int32, string> names = 6;
  google.protobuf.Timestamp at = 7;
  google.protobuf.StringValue note = 8;
  google.protobuf.Struct more = 9;
  oneof payment { string card = 10; bytes cash = 11; }
  uint32 small = 12;
  repeated State states = 13;
  repeated google.protobuf.Timestamp times = 14;
  double price = 15;
}
"""
NAME = "shop.v1.Order"
TIME = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
ROW = {
    "id": "a", "rank": 0, "state": "PAID", "lines": [{"sku": "s", "count": Decimal(2**64 - 1)}],
    "by_sku": {"k": {"sku": "t", "count": Decimal(0)}}, "names": {-1: "minus"}, "at": TIME,
    "note": "", "more": '{"a": [1.0, null]}', "card": None, "cash": b"", "small": 2**32 - 1,
    "states": ["NEW", "PAID"], "times": [TIME], "price": 0.1,
}  # fmt: skip
BARE: dict[str, Any] = {
    "id": "", "rank": None, "state": "NEW", "lines": [], "by_sku": {}, "names": {}, "at": None,
    "note": None, "more": None, "card": None, "cash": None, "small": 0, "states": [], "times": [],
    "price": 0.0,
}  # fmt: skip


def schema(text: str = ORDER) -> Registered:
    return Registered(0, PROTOBUF, text.encode())


def read(value: bytes | None, *, text: str = ORDER, name: str = NAME) -> Any:
    """The row, or the error."""
    decoded = ProtobufDecoder(schema(text), name, None).decode(records([value]))
    (row,) = decoded.rows.to_pylist(maps_as_pydicts="strict")
    return decoded.faults[0].error if decoded.faults else row


def write(*rows: Any, text: str = ORDER, name: str = NAME) -> list[bytes]:
    kind = arrow_type(ProtobufDecoder(schema(text), name, None).schema)
    encoded = ProtobufEncoder(schema(text), name, has_header=False).encode(pa.array(rows, kind))
    values: list[bytes] = encoded.to_pylist()
    return values


def test_every_type_has_its_column_and_rows_come_back() -> None:
    (value,) = write(ROW)
    assert read(value) == ROW


def test_what_is_not_there_is_null_or_the_default_as_the_schema_says() -> None:
    assert read(b"") == BARE
    message = ProtobufSchema(schema()).message_class(NAME)
    assert message.FromString(write(BARE)[0]) == message()
    fields = ProtobufDecoder(schema(), NAME, None).schema
    nullable = [field.name for field in fields if field.nullable]
    assert nullable == ["rank", "at", "note", "more", "card", "cash"]
    assert (
        fields["lines"].dataType.simpleString() == "array<struct<sku:string,count:decimal(20,0)>>"
    )
    assert fields["small"].dataType == spark.LongType()


def test_proto2_knows_what_is_required() -> None:
    text = "message A { required int32 a = 1; optional int32 b = 2 [default = 7]; }"
    assert [field.nullable for field in ProtobufDecoder(schema(text), "A", None).schema] == [
        False, True,
    ]  # fmt: skip
    assert read(b"\x08\x05", text=text, name="A") == {"a": 5, "b": None}
    without = ProtobufDecoder(schema(text), "A", None).decode(records([b"\x10\x05"]))
    assert [fault.error.split()[0] for fault in nulls(without.rows)] == ["a"]
    with pytest.raises(EncodingRefused, match=r"row 1: .*required"):
        write({"a": 1}, {"b": 1}, text=text, name="A")


def test_a_value_of_an_enum_that_only_others_know_is_its_number() -> None:
    assert read(b"\x18\x09")["state"] == "9"


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"\xff", "Error parsing message"),
        (b"\x0a\x05a", "Error parsing message"),
        (b"\x0a\x01\xff", "Error parsing message"),
        (b"\x0a\xff\xff\xff\xff\x7f", "Error parsing message"),
        (b"\x3a\x0a\x08" + b"\xff" * 8 + b"\x7f", "at: "),
        (None, "the record has no value"),
    ],
)
def test_poison_is_a_fault(value: bytes | None, error: str) -> None:
    assert str(read(value)).startswith(error)


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_no_bytes_raise(values: list[bytes]) -> None:
    decoded = ProtobufDecoder(schema(), NAME, None).decode(records(values))
    assert decoded.rows.null_count == len(decoded.faults)


LINES = st.fixed_dictionaries({"sku": st.text(), "count": st.integers(0, 2**64 - 1).map(Decimal)})
ROWS = st.fixed_dictionaries(
    {
        "id": st.text(), "rank": st.none() | st.integers(-(2**31), 2**31 - 1),
        "state": st.sampled_from(["NEW", "PAID"]), "lines": st.lists(LINES, max_size=2),
        "names": st.dictionaries(st.integers(-5, 5), st.text(max_size=3), max_size=2),
        "by_sku": st.dictionaries(st.text(max_size=3), LINES, max_size=2),
        "at": st.none() | st.datetimes(timezones=st.just(UTC)),
        "note": st.none() | st.text(max_size=3), "cash": st.none() | st.binary(max_size=3),
    }
).map(lambda row: BARE | row)  # fmt: skip


@given(st.lists(ROWS, max_size=3))
def test_rows_come_back_from_protobuf_as_they_were(rows: list[dict[str, Any]]) -> None:
    decoded = ProtobufDecoder(schema(), NAME, None).decode(records(write(*rows)))
    assert decoded.rows.to_pylist(maps_as_pydicts="strict") == rows


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('syntax = "proto3"; message Order { Order next = 1; }', "next: Order holds itself"),
        ('syntax = "proto3"; message Other {}', "no message 'Order' in this schema; it has: Other"),
        ('syntax = "proto3"; message Order { Line a = 1; }', "this is no schema of Protobuf: "),
        ("message {", "this is no schema of Protobuf: main.proto, line 1"),
    ],
)
def test_a_schema_that_gives_no_rows_is_refused(text: str, error: str) -> None:
    with pytest.raises(Unreadable) as refused:
        ProtobufDecoder(schema(text), "Order", None)
    assert error in str(refused.value)


def test_a_schema_may_be_in_files_that_import_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "shop" / "v1"
    folder.mkdir(parents=True)
    (folder / "line.proto").write_text('syntax = "proto3"; package shop.v1; message Line {}')
    (folder / "order.proto").write_text(
        'syntax = "proto3"; package shop.v1; import "shop/v1/line.proto";'
        " message Order { Line line = 1; string id = 2; }"
    )
    format = Protobuf(NAME, schema=str(folder / "order.proto"))
    assert schema_of(format).names == ["line", "id"]
    with pytest.raises(FormatRefused, match="cannot be read"):
        decoder(Protobuf(NAME, schema=str(folder / "gone.proto")))
    with pytest.raises(FormatRefused, match="needs a schema or a registry"):
        decoder(Protobuf(NAME))


def test_a_schema_may_be_a_set_of_descriptors(tmp_path: Path) -> None:
    file = parse('syntax = "proto3"; message A { int32 n = 1; }', "a.proto")
    path = tmp_path / "a.desc"
    path.write_bytes(FileDescriptorSet(file=[file]).SerializeToString())
    decoded = decoder(Protobuf("A", schema=str(path))).decode(records([b"\x08\x05"]))
    assert decoded.rows.to_pylist() == [{"n": 5}]


@pytest.fixture
def served() -> Iterator[for_tests.Registry]:
    with for_tests.running() as registry:
        yield registry


SIMPLE = 'syntax = "proto3"; package shop.v1; message Order { string id = 1; int32 n = 2; }'
NEWER = SIMPLE.replace("; }", "; string page = 3; message Inner {} }")
WIDER = SIMPLE.replace("int32", "int64")


def test_each_record_says_by_which_schema_and_message_it_was_written(
    served: for_tests.Registry,
) -> None:
    ids = [
        served.register("orders-value", text, schemaType=PROTOBUF)
        for text in (ORDER, NEWER, SIMPLE)
    ]
    format = Protobuf(NAME, registry=served.url)
    reading = pickle.loads(pickle.dumps(decoder(format, topic="orders")))
    served.asked.clear()
    good = b"\x0a\x01a\x10\x05"
    values = [
        header(ids[2]) + b"\x00" + good,
        header(ids[1]) + b"\x02\x00" + good + b"\x1a\x01p",  # the same, told at length
        header(ids[1]) + b"\x04\x00\x00" + good,
        header(ids[0]) + b"\x00" + good,
        header(ids[1]) + b"\x02\x09" + good,
        header(ids[1]) + b"\x02",
        header(99) + b"\x00" + good,
        header(ids[1]) + b"\xff" * 12,
    ]
    decoded = reading.decode(records(values * 3))
    assert decoded.rows.to_pylist()[:2] == [{"id": "a", "n": 5}] * 2
    assert [fault.error for fault in decoded.faults][:6] == [
        "the record is a shop.v1.Order.Inner, not a shop.v1.Order",
        "the record is a shop.v1.Other, not a shop.v1.Order",
        "its schema has no message at -5",
        "the value ends too early, or has a branch that its schema lacks",
        "the registry has no schema 99",
        "the place of its message is no number",
    ]
    assert len(served.asked) == len(ids) + 1


def test_a_wider_writer_stops_the_query(served: for_tests.Registry) -> None:
    id = served.register("orders-value", WIDER, schemaType=PROTOBUF)
    reading = ProtobufDecoder(schema(SIMPLE), NAME, served.url)
    with pytest.raises(SchemaIsWider, match="n: int became bigint, which is wider"):
        reading.decode(records([header(id) + b"\x00"]))


def test_what_is_written_can_be_read_by_its_schema_in_the_registry(
    served: for_tests.Registry, tmp_path: Path
) -> None:
    path = tmp_path / "order.proto"
    path.write_text(
        "syntax = 'proto3'; package shop.v1; message A {} message B { message Order {} }"
    )
    format = Protobuf("shop.v1.B.Order", schema=str(path), registry=served.url)
    writing = pickle.loads(pickle.dumps(encoder(format, topic="orders")))
    (value,) = writing.encode(pa.array([{}], type=pa.struct([]))).to_pylist()
    assert value == header(1) + b"\x04\x02\x00"
    assert decoder(format, topic="orders").decode(records([value])).faults == []
    assert served.schemas[0]["schemaType"] == PROTOBUF


def test_a_row_that_no_message_can_be_is_named() -> None:
    with pytest.raises(
        EncodingRefused, match=r"row 0: 'LOST' is no value of shop\.v1\.Order\.State"
    ):
        write(ROW | {"state": "LOST"})
