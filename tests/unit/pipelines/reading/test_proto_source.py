"""Texts of .proto files become the descriptors that protobuf itself would make of them."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipelines.reading.proto_source import BadProto, parse

TEXT = """
// A comment; with { in it.
syntax = "proto3"; /* and
another */ package shop.v1;
import public "google/protobuf/timestamp.proto";
import 'other' '.proto';
option java_package = "com.shop";
option (mine) = { a: "}" b { c: 1 } };

message Order {
  option deprecated = true;
  reserved 9, 11 to max;
  reserved "old";
  enum State { option allow_alias = true; NEW = 0; OPEN = 0 [deprecated = true]; GONE = -1; }
  message Line { string sku = 1; uint32 count = 0x02; }
  string id = 1 [json_name = "ID", (rules).string = { min_len: 1, max: [1, 2] }];
  repeated Line lines = 2 [packed=false];
  map<string, .shop.v1.Order.Line> by_sku = 3;
  oneof payment { option (x) = 1; string card = 4; bytes cash = 5; }
  optional int32 rank = 6;
  State state = 7;
  google.protobuf.Timestamp at = 8;
  message message = 10;
};
message message {}
service Shop { rpc Buy(Order) returns (stream Order) { option (http) = { get: "/" }; } }
extend google.protobuf.FieldOptions { string mine = 50000; }
enum Empty { NOTHING = 0; }
"""

WANTED = """
name: "shop.proto" package: "shop.v1" syntax: "proto3"
dependency: "google/protobuf/timestamp.proto" dependency: "other.proto" public_dependency: 0
message_type {
  name: "Order"
  field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "lines" number: 2 label: LABEL_REPEATED type_name: "Line"
          options { packed: false } }
  field { name: "by_sku" number: 3 label: LABEL_REPEATED type_name: "BySkuEntry" }
  field { name: "card" number: 4 label: LABEL_OPTIONAL type: TYPE_STRING oneof_index: 0 }
  field { name: "cash" number: 5 label: LABEL_OPTIONAL type: TYPE_BYTES oneof_index: 0 }
  field { name: "rank" number: 6 label: LABEL_OPTIONAL type: TYPE_INT32 oneof_index: 1
          proto3_optional: true }
  field { name: "state" number: 7 label: LABEL_OPTIONAL type_name: "State" }
  field { name: "at" number: 8 label: LABEL_OPTIONAL type_name: "google.protobuf.Timestamp" }
  field { name: "message" number: 10 label: LABEL_OPTIONAL type_name: "message" }
  nested_type {
    name: "Line"
    field { name: "sku" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
    field { name: "count" number: 2 label: LABEL_OPTIONAL type: TYPE_UINT32 }
  }
  nested_type {
    name: "BySkuEntry" options { map_entry: true }
    field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
    field { name: "value" number: 2 label: LABEL_OPTIONAL type_name: ".shop.v1.Order.Line" }
  }
  enum_type {
    name: "State" options { allow_alias: true }
    value { name: "NEW" number: 0 } value { name: "OPEN" number: 0 }
    value { name: "GONE" number: -1 }
  }
  oneof_decl { name: "payment" } oneof_decl { name: "_rank" }
}
message_type { name: "message" }
enum_type { name: "Empty" value { name: "NOTHING" number: 0 } }
"""


def test_a_file_with_all_that_a_file_may_have() -> None:
    assert parse(TEXT, "shop.proto") == text_format.Parse(WANTED, FileDescriptorProto())


def test_proto2_has_labels_and_defaults() -> None:
    file = parse(
        """message A { required int32 a = 1; optional string b = 2 [default = 'x"' "y"];
        optional double c = 3 [default = -inf, deprecated = true]; extensions 100 to 199;
        optional bool optional = 4 [default = true]; repeated sint64 d = 5 [packed = true]; }""",
        "a.proto",
    )
    assert file.syntax == "proto2"
    fields = file.message_type[0].field
    assert [field.label for field in fields] == [2, 1, 1, 1, 3]
    assert [field.default_value for field in fields] == ["", 'x"y', "-inf", "true", ""]
    assert fields[4].options.packed


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('syntax = "proto3";\nmessage A {\n string = 1; }', "line 3: = stands where a name should"),
        ("message A {", "line 1: the end stands where"),
        ("message A { string a = x; }", "line 1: x stands where a whole number should"),
        ("message A { string a = 1 }", "line 1: } stands where ';' should"),
        ("nothing", "line 1: nothing stands where a message or an enum should"),
        ("message A { ? }", "line 1: '?' has no meaning here"),
        ('edition = "2023";', "editions are read from sets of descriptors only"),
        ("message A { optional group G = 1 { } }", "groups are read from sets of descriptors only"),
        ("import 5;", "line 1: 5 stands where a string should"),
    ],
)
def test_a_mistake_is_told_by_its_line(text: str, error: str) -> None:
    with pytest.raises(BadProto, match=r"a\.proto, ") as refused:
        parse(text, "a.proto")
    assert error in str(refused.value)


@given(st.text() | st.lists(st.sampled_from(TEXT.split()), max_size=30).map(" ".join))
def test_any_other_text_is_refused_and_nothing_worse(text: str) -> None:
    try:
        file = parse(text, "a.proto")
    except BadProto:
        return
    assert file.name == "a.proto"
