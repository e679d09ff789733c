"""Pipelines in YAML: the same as in Python, and every mistake at once."""

from __future__ import annotations

import pytest

from ottla.pipelines import declare
from ottla.pipelines.declaration import DeltaTable, Json, Otherwise, Pipeline, Topic
from ottla.pipelines.mistakes import Mistakes
from ottla.pipelines.yaml_file import SqlFunction, read_yaml

WHOLE = """
pipelines:
  page-views:
    source:
      topic: page-views
      format: {json: {event_id: string, user_id: string or null}}
      at_once: 50
    contract: [{not_null: event_id}, {one_of: [user_id, ann, bob], otherwise: drop}]
    sql: select * from events where user_id is not null
    sink: {delta: lake/page_views, key: event_id}
    dead_letters: page-views.dlq
    every: 10 seconds
"""


def only(text: str) -> Pipeline:
    (found,) = read_yaml("pipelines.yaml", text)
    return found


def mistakes_of(text: str) -> list[str]:
    with pytest.raises(Mistakes) as refused:
        read_yaml("p.yaml", text)
    return [str(mistake) for mistake in refused.value.mistakes]


def test_a_whole_pipeline_is_read() -> None:
    found = only(WHOLE)
    (source,) = found.sources
    assert isinstance(source, Topic)
    assert isinstance(source.format, Json)
    assert source.format.schema is not None
    assert source.format.schema.simpleString() == "struct<event_id:string,user_id:string>"
    assert source.at_once == 50
    assert found.sink == DeltaTable("lake/page_views", ("event_id",))
    assert [rule.name for rule in found.contract] == ["not_null(event_id)", "one_of(user_id)"]
    assert found.contract[1].otherwise is Otherwise.DROP
    assert found.contract[1].arguments == ("ann", "bob")
    assert found.dead_letters == declare.topic("page-views.dlq")
    assert found.malformed is Otherwise.DEAD_LETTER
    assert found.trigger.every == "10 seconds"
    assert found.place == "pipelines.yaml: page-views"
    assert isinstance(found.function, SqlFunction)


def test_a_sink_of_one_word_needs_no_braces() -> None:
    found = only("pipelines: {copy: {source: {topic: a}, sink: console}}")
    assert found.sink == declare.console()


def test_all_mistakes_of_all_pipelines_are_told_at_once() -> None:
    told = mistakes_of(
        """
pipelines:
  first:
    source: {topik: a}
    contract: [{notnull: a}]
    sinc: console
  second:
    source: {topic: a, format: {json: {id: number}}}
    sink: noop
"""
    )
    assert told == [
        "p.yaml: first: it has no part called sinc; did you mean sink?",
        "p.yaml: first: source: topik is neither source nor sink; did you mean topic?",
        "p.yaml: first: sink: there is no sink; give sink: {topic: NAME}, or console for trying",
        "p.yaml: first: contract: {'notnull': 'a'} is no rule; did you mean not_null?",
        "p.yaml: second: source: field 'id': 'number' is no type. There are: boolean, int, long,"
        " bigint, float, double, string, binary, date, timestamp, decimal(p,s), array<T>,"
        " map<string,T>; each may be followed by or null; see docs/PIPELINES.md",
    ]


@pytest.mark.parametrize("text", ["", "pipelines: []", "- a", "x: 1"])
def test_a_file_without_pipelines_says_how_to_begin(text: str) -> None:
    (told,) = mistakes_of(text)
    assert told.endswith("begin with `pipelines:` and a name below it")


def test_broken_yaml_is_named_with_its_line() -> None:
    (told,) = mistakes_of("pipelines: {a: [}")
    assert "line 1" in told
