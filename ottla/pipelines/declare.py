"""The words that a pipeline's file is written in.

from ottla.pipelines.declare import delta, json, pipeline, topic

@pipeline(source=topic("page-views", format=json(PageView)), sink=delta("lake/page_views"))
def page_views(events: DataFrame) -> DataFrame:
    return events.where("user_id is not null")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame

from ottla.pipelines.declaration import (
    Avro,
    Console,
    Csv,
    DatabaseTable,
    DeltaTable,
    Folder,
    Format,
    Json,
    Memory,
    Noop,
    Otherwise,
    ParquetFolder,
    Pipeline,
    Protobuf,
    Raw,
    Rule,
    SinkPlace,
    Source,
    Table,
    Text,
    Topic,
    Trigger,
)
from ottla.pipelines.schema import Shape, structure

Function = Callable[..., DataFrame]
Names = str | Iterable[str]

TOPIC_OPTIONS = ("format", "start", "at_once", "key", "delivery", "options")

raw = Raw
text = Text
protobuf = Protobuf
avro = Avro
console = Console
memory = Memory
noop = Noop
parquet = ParquetFolder
table = Table


def json(shape: Shape | None = None) -> Json:
    return Json(None if shape is None else structure(shape))


def csv(shape: Shape | None = None, *, delimiter: str = ",", has_header: bool = False) -> Csv:
    return Csv(None if shape is None else structure(shape), delimiter, has_header)


def topic(*names: str, format: Format | None = None, **settings: Any) -> Topic:
    """A word that is none of its options is kept, so that all mistakes are told at once."""
    known = {word: value for word, value in settings.items() if word in TOPIC_OPTIONS}
    unknown = tuple(word for word in settings if word not in TOPIC_OPTIONS)
    return Topic(names, format or Raw(), **known, unknown=unknown)


def files(path: str, shape: Shape, *, format: str = "json", **options: str) -> Folder:
    return Folder(path, format, structure(shape), options)


def delta(path: str, *, key: Names = ()) -> DeltaTable:
    return DeltaTable(path, _names(key))


def database(url: str, table: str, *, key: Names = ()) -> DatabaseTable:
    return DatabaseTable(url, table, _names(key))


def not_null(column: str, *, otherwise: str = Otherwise.DEAD_LETTER) -> Rule:
    return _rule("not_null", column, otherwise=otherwise)


def one_of(column: str, *values: Any, otherwise: str = Otherwise.DEAD_LETTER) -> Rule:
    return _rule("one_of", column, *values, otherwise=otherwise)


def between(
    column: str, low: Any = None, high: Any = None, *, otherwise: str = Otherwise.DEAD_LETTER
) -> Rule:
    """Both ends are allowed; None leaves an end open."""
    return _rule("between", column, low, high, otherwise=otherwise)


def matches(column: str, pattern: str, *, otherwise: str = Otherwise.DEAD_LETTER) -> Rule:
    """The whole value, by a regular expression."""
    return _rule("matches", column, pattern, otherwise=otherwise)


def unique(column: str, *, otherwise: str = Otherwise.DEAD_LETTER) -> Rule:
    """Within a batch: the first record of a value stays."""
    return _rule("unique", column, otherwise=otherwise)


def _rule(kind: str, column: str, *arguments: Any, otherwise: str) -> Rule:
    return Rule(f"{kind}({column})", kind, column, arguments, Otherwise(otherwise))


def pipeline(
    *,
    source: Source | Iterable[Source],
    sink: SinkPlace,
    name: str | None = None,
    contract: Iterable[Rule] = (),
    malformed: str | None = None,
    dead_letters: Topic | None = None,
    every: str | None = None,
    once: bool = False,
    state: str | None = None,
    output_mode: str = "append",
    settings: Mapping[str, str] | None = None,
    **unknown: object,
) -> Callable[[Function], Pipeline]:
    """Several sources become as many arguments of the function, in their order."""
    sources = (source,) if isinstance(source, Source) else tuple(source)
    usual = Otherwise.STOP if dead_letters is None else Otherwise.DEAD_LETTER

    def declared(function: Function) -> Pipeline:
        code = getattr(function, "__code__", None)
        return Pipeline(
            name=name or function.__name__.replace("_", "-"),
            function=function,
            sources=sources,
            sink=sink,
            contract=tuple(contract),
            malformed=usual if malformed is None else Otherwise(malformed),
            dead_letters=dead_letters,
            trigger=Trigger(every, once),
            state=state,
            output_mode=output_mode,
            settings=settings or {},
            unknown=tuple(unknown),
            place=f"{code.co_filename}:{code.co_firstlineno}" if code else "",
        )

    return declared


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
