"""Pipelines in YAML, with SQL for the function:

    pipelines:
      page-views:
        source: {topic: page-views, format: {json: {event_id: string, user_id: string or null}}}
        contract: [{not_null: event_id}, {between: [seconds, 0, 3600], otherwise: drop}]
        sql: select * from events where user_id is not null
        sink: {delta: lake/page_views, key: event_id}
        dead_letters: page-views.dlq

The one source is called `events` in the SQL; several are called what `sources` calls them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from pyspark.sql import DataFrame

from ottla.pipelines import declare
from ottla.pipelines.declaration import Pipeline, Rule
from ottla.pipelines.mistakes import Mistake, Mistakes, nearest
from ottla.pipelines.schema import BadShape

_RULES: dict[str, Callable[..., Rule]] = {
    "not_null": declare.not_null,
    "one_of": declare.one_of,
    "between": declare.between,
    "matches": declare.matches,
    "unique": declare.unique,
}
_PLACES: dict[str, Callable[..., Any]] = {
    "topic": declare.topic,
    "files": declare.files,
    "table": declare.table,
    "parquet": declare.parquet,
    "delta": declare.delta,
    "database": declare.database,
    "console": declare.console,
    "memory": declare.memory,
    "noop": declare.noop,
}
_FORMATS: dict[str, Callable[..., Any]] = {
    "raw": declare.raw,
    "text": declare.text,
    "json": declare.json,
    "csv": declare.csv,
    "avro": declare.avro,
    "protobuf": declare.protobuf,
}
_PLAIN = (
    "name", "malformed", "every", "once", "state", "output_mode", "settings",
)  # fmt: skip
_PARTS = ("source", "sources", "contract", "sql", "sink", "dead_letters", *_PLAIN)


class _Wrong(Exception):
    def __init__(self, part: str, sentence: str, fix: str) -> None:
        super().__init__(sentence)
        self.mistake = Mistake(part, sentence, fix)


def read_yaml(path: str, text: str) -> list[Pipeline]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as cause:
        raise Mistakes([Mistake(path, f"{cause}", "it must be YAML")]) from cause
    declared = document.get("pipelines") if isinstance(document, dict) else None
    if not isinstance(declared, dict):
        fix = "begin with `pipelines:` and a name below it"
        raise Mistakes([Mistake(path, "it declares no pipeline", fix)])
    found, mistakes = [], []
    for name, parts in declared.items():
        pipeline, wrong = _pipeline(f"{path}: {name}", str(name), parts)
        found.append(pipeline)
        mistakes += wrong
    if mistakes:
        raise Mistakes(mistakes)
    return [pipeline for pipeline in found if pipeline is not None]


def _pipeline(place: str, name: str, parts: Any) -> tuple[Pipeline | None, list[Mistake]]:
    """Every part is tried, so that all that is wrong comes to light at once."""
    if not isinstance(parts, dict):
        return None, [Mistake(place, f"{parts!r} is no pipeline", "give source:, sql: and sink:")]
    mistakes = [
        Mistake(place, f"it has no part called {part}", nearest(str(part), _PARTS))
        for part in parts
        if part not in _PARTS
    ]
    made: dict[str, Any] = {}
    for part, make in _MAKERS.items():
        try:
            made |= make(parts)
        except _Wrong as wrong:
            mistakes.append(wrong.mistake._replace(place=f"{place}: {part}"))
        except (BadShape, TypeError, ValueError) as cause:
            mistakes.append(Mistake(f"{place}: {part}", f"{cause}", "see docs/PIPELINES.md"))
    if mistakes:
        return None, mistakes
    function = made.pop("function")
    settings = {key: parts[key] for key in _PLAIN if key in parts}
    pipeline = declare.pipeline(**{"name": name, **made, **settings})(function)
    return dataclasses.replace(pipeline, place=place), []


def _sources(parts: Mapping[str, Any]) -> dict[str, Any]:
    if "source" in parts:
        return {"source": _place(parts["source"])}
    named = parts.get("sources")
    if not isinstance(named, dict):
        raise _Wrong("", "there is no source", "give source: {topic: NAME}")
    return {"source": [_place(value) for value in named.values()]}


def _function(parts: Mapping[str, Any]) -> dict[str, Any]:
    names = list(parts["sources"]) if isinstance(parts.get("sources"), dict) else ["events"]
    sql = parts.get("sql", f"select * from {names[0]}")
    if not isinstance(sql, str):
        raise _Wrong("", f"{sql!r} is no text", "give one SELECT")
    return {"function": SqlFunction(sql, names)}


class SqlFunction:
    """The function of a pipeline, as a SELECT from its sources."""

    __name__ = "sql"

    def __init__(self, sql: str, names: list[str]) -> None:
        self._sql = sql
        self._names = names

    def __call__(self, *frames: DataFrame) -> DataFrame:
        for name, frame in zip(self._names, frames, strict=True):
            frame.createOrReplaceTempView(name)
        return frames[0].sparkSession.sql(self._sql)


def _sink(parts: Mapping[str, Any]) -> dict[str, Any]:
    if "sink" not in parts:
        raise _Wrong("", "there is no sink", "give sink: {topic: NAME}, or console for trying")
    return {"sink": _place(parts["sink"])}


def _letters(parts: Mapping[str, Any]) -> dict[str, Any]:
    where = parts.get("dead_letters")
    if where is None:
        return {}
    return {"dead_letters": declare.topic(where) if isinstance(where, str) else _place(where)}


def _contract(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {"contract": [_rule(rule) for rule in parts.get("contract") or ()]}


def _rule(rule: Any) -> Rule:
    if not isinstance(rule, dict):
        raise _Wrong("", f"{rule!r} is no rule", "write {not_null: COLUMN}")
    settings = {key: value for key, value in rule.items() if key == "otherwise"}
    kinds = [key for key in rule if key != "otherwise"]
    if len(kinds) != 1 or kinds[0] not in _RULES:
        raise _Wrong("", f"{rule} is no rule", nearest(str(kinds[:1] and kinds[0]), _RULES))
    arguments = rule[kinds[0]]
    return _RULES[kinds[0]](
        *(arguments if isinstance(arguments, list) else [arguments]), **settings
    )


def _place(where: Any) -> Any:
    """`{topic: NAME, key: …}`: the first word says what, its value where, the rest how."""
    if isinstance(where, str):
        where = {where: None}
    if not isinstance(where, dict) or not where:
        raise _Wrong("", f"{where!r} is no place", "write {topic: NAME}")
    kind, *_ = where
    if kind not in _PLACES:
        raise _Wrong("", f"{kind} is neither source nor sink", nearest(str(kind), _PLACES))
    settings = {key: value for key, value in where.items() if key != kind}
    if "format" in settings and kind == "topic":
        settings["format"] = _format(settings["format"])
    values = where[kind]
    listed = values if isinstance(values, list) else [] if values is None else [values]
    return _PLACES[kind](*listed, **settings)


def _format(format: Any) -> Any:
    if isinstance(format, str):
        format = {format: None}
    kind, *_ = format
    if kind not in _FORMATS:
        raise _Wrong("", f"{kind} is no format", nearest(str(kind), _FORMATS))
    settings = {key: value for key, value in format.items() if key != kind}
    if kind in ("json", "csv"):
        return _FORMATS[kind](format[kind], **settings)
    return _FORMATS[kind](**(format[kind] or {}), **settings)


_MAKERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "source": _sources,
    "sql": _function,
    "sink": _sink,
    "dead_letters": _letters,
    "contract": _contract,
}
