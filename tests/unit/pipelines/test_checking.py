"""Everything that is wrong with a pipeline, before Spark starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from ottla.pipelines.checking import check, notes
from ottla.pipelines.declaration import Csv, Folder, Json, Pipeline, Source, Topic
from ottla.pipelines.declare import (
    avro,
    between,
    console,
    files,
    json,
    matches,
    not_null,
    one_of,
    pipeline,
    table,
    topic,
)


@dataclass
class Visit:
    user: str
    seconds: float


VISITS = topic("visits", format=json(Visit))


def schema_of(source: Source) -> StructType | None:
    if isinstance(source, Topic) and isinstance(source.format, Json | Csv):
        return source.format.schema
    return source.schema if isinstance(source, Folder) else None


def declared(**parts: Any) -> Pipeline:
    def visits(events: DataFrame) -> DataFrame:
        return events

    made = pipeline(**{"source": VISITS, "sink": console(), **parts})(visits)
    assert made.place.startswith(__file__)
    return made


def told(**parts: Any) -> list[str]:
    found = check([declared(**parts)], None, schema_of)
    return [f"{m.place.rpartition(': ')[2]}: {m.sentence}; {m.fix}" for m in found]


def test_a_good_pipeline_has_no_mistakes() -> None:
    good = {
        "contract": [not_null("user"), between("seconds", 0, 3600, otherwise="warn")],
        "dead_letters": topic("visits.dlq"),
        "sink": topic("out", format=json(), key="user"),
    }
    assert told(**good) == []


def test_every_mistake_is_told_at_once() -> None:
    assert told(
        name="a b",
        source=topic("visits", fromat=1, format=json(Visit), start="yesterday", at_once=0),
        contract=[not_null("usr"), matches("user", "("), between("seconds", 9, 1)],
        sink=topic("visits", delivery="once"),
        evry="x",
        every="soon",
        settings={"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "3"},
    ) == [
        "name: 'a b' is no name; use letters, digits, dots, _ and -",
        "pipeline: there is no option evry; did you mean every?",
        "every: 'soon' is no interval; write it as `10 seconds`",
        "settings: spark.driver.memory is none of a single query; give it to the whole session:"
        " --conf spark.driver.memory=2g",
        "source: topic has no option fromat; did you mean format?",
        "source: at_once is 0; a batch needs at least one record",
        "source: start='yesterday' is no position; give earliest, latest, a time as"
        " 2026-01-31T12:00:00Z, or group:NAME",
        "contract: not_null(usr): there is no such column; did you mean user?",
        "contract: matches(user): missing ), unterminated subpattern at position 0;"
        " it must be a regular expression",
        "contract: between(seconds): 9 is more than 1; change them",
        "contract: not_null(usr), matches(user), between(seconds): there is nowhere to send dead"
        " letters; give dead_letters=topic(NAME), or another otherwise=",
        "sink: delivery='once' is none; there are: exactly-once, parallel, realtime",
        "sink: visits is source and sink; it would feed itself: write to another",
    ]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            topic("a", format=json()),
            "source: json is read without a schema; give json(A_DATACLASS)",
        ),
        (
            topic("a", format=avro()),
            "source: nothing says what the bytes mean; give schema= or registry=",
        ),
        (
            files("in", Visit, format="xml"),
            "source: xml is no format of files; there are: csv, json, parquet",
        ),
        (table("mysql://x", "t", "id"), "source: 'mysql://x' is no database; give postgresql://…"),
    ],
)
def test_a_source_that_cannot_be_read_is_named(source: Source, sentence: str) -> None:
    assert told(source=source) == [sentence]


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (matches("seconds", "a"), "matches(seconds): double is no string; use between or one_of"),
        (between("seconds"), "between(seconds) has neither end; give low, high, or both"),
        (between("seconds", "a"), "between(seconds): 'a' is no number; the column holds numbers"),
        (one_of("user"), "one_of(user) allows no value; name those that are allowed"),
        (
            one_of("seconds", "ann"),
            "one_of(seconds): seconds is of type double: Could not convert 'ann' with type str:"
            " tried to convert to double; it cannot be checked like this",
        ),
    ],
)
def test_a_rule_that_cannot_hold_is_named(rule: Any, sentence: str) -> None:
    found = told(contract=[rule], dead_letters=topic("dlq"))
    assert found == [f"contract: {sentence}"]


def test_what_cannot_be_read_cannot_go_on_with_a_warning() -> None:
    assert told(malformed="warn") == [
        "malformed: warn: what cannot be read cannot go on; drop, dead-letter or stop it"
    ]


def test_real_time_mode_has_neither_contract_nor_dead_letters() -> None:
    fast = topic("out", delivery="realtime")
    (found,) = told(sink=fast, dead_letters=topic("dlq"))
    assert found.startswith("sink: real-time mode has neither contract nor dead letters;")
    assert "at least once" in notes(declared(sink=fast))[0]
    assert "without ledger" in notes(declared(sink=fast))[1]


def test_exactly_once_needs_no_note() -> None:
    assert notes(declared(sink=topic("out"))) == []
