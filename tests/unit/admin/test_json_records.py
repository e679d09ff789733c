"""Lines of JSON become records, and what is printed is read again."""

from __future__ import annotations

import pytest

from ottla.admin.cluster import TopicPartition
from ottla.admin.consuming import IncomingRecord
from ottla.admin.json_records import JsonFormat, to_json_line
from ottla.admin.producing import BadLine, Headers, OutgoingRecord


def parse(line: str, headers: Headers = ()) -> OutgoingRecord:
    return JsonFormat(headers).parse(line.encode())


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ('{"value": "ü"}', None, "ü".encode()),
        ('{"key": "k", "value": null}', b"k", None),
        ('{"key": {"base64": "/w=="}, "value": ""}', b"\xff", b""),
        ('{"key": 7, "value": {"a": [1, "ü"]}}', b"7", '{"a":[1,"ü"]}'.encode()),
        ('{"value": {"base64": "/w==", "more": 1}}', None, b'{"base64":"/w==","more":1}'),
    ],
)
def test_text_is_text_and_the_rest_is_json(
    line: str, key: bytes | None, value: bytes | None
) -> None:
    assert parse(line) == OutgoingRecord(key, value, ())


def test_headers_are_a_list_or_an_object_and_come_before_those_of_all() -> None:
    everywhere: Headers = (("all", b"1"),)
    listed = '{"value": "v", "headers": [{"name": "a", "value": "1"}, {"name": "a"}]}'
    assert parse(listed, everywhere).headers == (("a", b"1"), ("a", None), *everywhere)
    assert parse('{"value": "v", "headers": {"a": "1"}}').headers == (("a", b"1"),)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "it is no JSON"),
        ("[1]", 'it is no object with a "value"'),
        ('{"key": "k"}', 'it is no object with a "value"'),
        ('{"value": {"base64": "?"}}', "'?' is no base64"),
        ('{"value": {"base64": 7}}', "7 is no base64"),
        ('{"value": "v", "timestamp": "now"}', "its timestamp 'now' is not in ms since 1970"),
        ('{"value": "v", "timestamp": -1}', "its timestamp -1 is not in ms since 1970"),
        ('{"value": "v", "headers": "a=1"}', "its headers are neither a list nor an object"),
        ('{"value": "v", "headers": [{"value": "1"}]}', "has no name"),
    ],
)
def test_a_line_that_is_no_record_is_told(line: str, why: str) -> None:
    with pytest.raises(BadLine) as refused:
        parse(line)
    assert why in str(refused.value)


def test_what_is_printed_is_read_again() -> None:
    record = IncomingRecord(
        partition=TopicPartition("orders", 3),
        offset=42,
        timestamp=1_700_000_000_000,
        is_append_time=False,
        key=b"\xff\x00",
        value=b"v",
        headers=(("a", b"1"), ("b", None), ("a", b"\xfe")),
    )
    read = JsonFormat(()).parse(to_json_line(record))
    assert read == OutgoingRecord(record.key, record.value, record.headers, record.timestamp)
