"""Messages as JSON: names, bytes, ids, nulls, and what is left out."""

import pytest

from ottla.protocol.primitives import Float64, Int64, Records, Uuid
from ottla.protocol.readable import json_name, to_json, uuid_text
from ottla.protocol.schema import Message, Struct, field, message


class Inner(Struct):
    topic_id: Uuid
    since_v1: str = field(since=1, default="")


@message(newest=2, flexible_from=1)
class Everything(Message):
    big_number: Int64
    is_there: bool
    quota: Float64
    nothing: str | None
    raw_bytes: bytes
    records: Records | None
    topics: list[Inner]
    tagged_list: list[Int64] = field(since=1, tag=0, default=[])


def everything(tagged_list: list[int]) -> Everything:
    return Everything(
        big_number=2**63 - 1,
        is_there=True,
        quota=0.5,
        nothing=None,
        raw_bytes=b"\x00\xff\xfe",
        records=memoryview(b"abc"),
        topics=[Inner(topic_id=bytes(15) + b"\x01", since_v1="x")],
        tagged_list=tagged_list,
    )


# In base64 three bytes are four characters: 00fffe is AP/+, "abc" is YWJj.
WANTED = {
    "bigNumber": 9223372036854775807,
    "isThere": True,
    "quota": 0.5,
    "nothing": None,
    "rawBytes": "AP/+",
    "records": "YWJj",
    "topics": [{"topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "sinceV1": "x"}],
}


def test_values_are_in_the_form_of_kafkas_own_tools() -> None:
    assert to_json(everything([]), 1) == WANTED


def test_a_tagged_field_is_there_only_if_it_is_not_its_default() -> None:
    assert to_json(everything([1, 2]), 1) == {**WANTED, "taggedList": [1, 2]}


def test_what_a_version_lacks_is_left_out() -> None:
    found = to_json(everything([1]), 0)
    assert "taggedList" not in found
    assert found["topics"] == [{"topicId": "AAAAAAAAAAAAAAAAAAAAAQ"}]


def test_fields_stand_in_the_order_of_their_declaration() -> None:
    assert list(to_json(everything([1]), 2)) == [*WANTED, "taggedList"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("name", "name"),
        ("throttle_time_ms", "throttleTimeMs"),
        ("is_kraft_controller", "isKraftController"),
    ],
)
def test_names_are_in_camel_case(name: str, wanted: str) -> None:
    assert json_name(name) == wanted


def test_an_id_is_url_safe_and_without_padding() -> None:
    # All bits set: 21 characters of six bits, and one for the last two.
    assert uuid_text(b"\xff" * 16) == "_" * 21 + "w"
    assert uuid_text(bytes(16)) == "A" * 22
