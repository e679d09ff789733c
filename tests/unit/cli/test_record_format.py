"""How a record is printed: by a template, safely on a terminal, or as JSON."""

from __future__ import annotations

import json

import pytest

from ottla.admin.cluster import TopicPartition
from ottla.admin.consuming import IncomingRecord
from ottla.admin.json_records import to_json_line
from ottla.cli.record_format import BadFormat, by_template

RECORD = IncomingRecord(
    partition=TopicPartition("orders", 3),
    offset=42,
    timestamp=1_700_000_000_000,
    is_append_time=False,
    key=b"k",
    value=b"\xffv\x1b[2J",
    headers=(("a", b"1"), ("b", None)),
)
NULLS = IncomingRecord(
    partition=TopicPartition("orders", 3),
    offset=43,
    timestamp=None,
    is_append_time=True,
    key=None,
    value=None,
    headers=(),
)


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("{value}", b"\xffv\x1b[2J\n"),
        ("{topic}-{partition}@{offset}", b"orders-3@42\n"),
        (r"{key}\t{timestamp}\n\\", b"k\t1700000000000\n\\\n"),
        ("{headers}", b"a=1,b=null\n"),
        ("100 %", b"100 %\n"),
    ],
)
def test_a_pipe_gets_the_bytes_as_they_are(template: str, line: bytes) -> None:
    assert by_template(template, for_terminal=False)(RECORD) == line


def test_a_terminal_gets_nothing_that_it_would_obey() -> None:
    write = by_template(r"{value}\n{key}", for_terminal=True)
    assert write(RECORD) == rb"\xffv\x1b[2J" + b"\nk\n"


def test_what_is_not_there_is_null() -> None:
    write = by_template("{key} {value} {timestamp} [{headers}]", for_terminal=False)
    assert write(NULLS) == b"null null null []\n"


def test_a_template_that_names_nothing_of_a_record_is_refused() -> None:
    with pytest.raises(BadFormat, match=r"\{valeu\} is nothing .* it has \{topic\}, "):
        by_template("{valeu}", for_terminal=False)


def test_json_keeps_bytes_that_are_no_text() -> None:
    line = to_json_line(RECORD)
    assert line.endswith(b"}\n")
    assert json.loads(line) == {
        "topic": "orders",
        "partition": 3,
        "offset": 42,
        "timestamp": 1_700_000_000_000,
        "timestamp_type": "CreateTime",
        "key": "k",
        "value": {"base64": "/3YbWzJK"},
        "headers": [{"name": "a", "value": "1"}, {"name": "b", "value": None}],
    }


def test_json_has_null_for_what_is_not_there() -> None:
    told = json.loads(to_json_line(NULLS))
    assert (told["key"], told["value"], told["timestamp"]) == (None, None, None)
    assert told["timestamp_type"] == "LogAppendTime"


def test_hexadecimal_is_of_what_was_sent_and_not_of_the_rest() -> None:
    write = by_template("{offset} {key}={value} [{headers}]", for_terminal=False, in_hex=True)
    assert write(RECORD) == b"42 6b=ff761b5b324a [a=31,b=null]\n"
    assert write(NULLS).startswith(b"%d null=null" % NULLS.offset)
