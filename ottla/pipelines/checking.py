"""Everything that is wrong with a pipeline, found before Spark starts: all of it at once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from pyspark.sql.types import DataType, NumericType, StringType, StructType

from ottla.pipelines.declaration import (
    Avro,
    Csv,
    DeltaTable,
    Folder,
    Json,
    Otherwise,
    ParquetFolder,
    Pipeline,
    Protobuf,
    Raw,
    Rule,
    Source,
    Table,
    Text,
    Topic,
)
from ottla.pipelines.declare import TOPIC_OPTIONS
from ottla.pipelines.declare import pipeline as declared
from ottla.pipelines.kafka import Cluster, Unreachable
from ottla.pipelines.mistakes import Mistake, nearest
from ottla.pipelines.reading import contract
from ottla.pipelines.reading.origin import RESERVED
from ottla.pipelines.reading.rows import arrow_type
from ottla.pipelines.sinks.reach import unreachable

_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")
_DELIVERIES = ("exactly-once", "parallel", "realtime")
_OUTPUT_MODES = ("append", "update", "complete")
_EVERY = re.compile(r"\d+ (milliseconds?|seconds?|minutes?|hours?)")
_FILES = ("csv", "json", "parquet")
_PIPELINE_OPTIONS = [word for word in inspect.signature(declared).parameters if word != "unknown"]
_RULES = ("not_null", "one_of", "between", "matches", "unique")

Found = Iterator[tuple[str, str, str]]  # part, sentence, fix


def check(
    pipelines: Sequence[Pipeline],
    cluster: Cluster | None,
    schema_of: Callable[[Source], StructType | None],
) -> list[Mistake]:
    """Without a cluster nothing is asked whether it is there. `schema_of` may ask a registry."""
    found = []
    for pipeline in pipelines:
        place = f"{pipeline.place}: {pipeline.name}" if pipeline.place else pipeline.name
        for part, sentence, fix in (
            *_names(pipeline),
            *_sources(pipeline),
            *_contract(pipeline, schema_of),
            *_sink(pipeline),
            *_together(pipeline),
            *(_topics(pipeline, cluster) if cluster else ()),
            *(_reached(pipeline) if cluster else ()),
        ):
            found.append(Mistake(f"{place}: {part}", sentence, fix))
    return found


def notes(pipeline: Pipeline) -> list[str]:
    """What is right, but worth knowing before it runs."""
    found = []
    if isinstance(pipeline.sink, Topic) and pipeline.sink.delivery != "exactly-once":
        found.append(
            f"{pipeline.name} writes at least once: after a crash some records come twice."
            " delivery='exactly-once' writes each once"
        )
    if isinstance(pipeline.sink, Topic) and pipeline.sink.delivery == "realtime":
        found.append(
            f"{pipeline.name} runs in real-time mode: without ledger, contract and dead letters"
        )
    return found


def _names(pipeline: Pipeline) -> Found:
    if not _NAME.fullmatch(pipeline.name):
        yield "name", f"{pipeline.name!r} is no name", "use letters, digits, dots, _ and -"
    for word in pipeline.unknown:
        yield "pipeline", f"there is no option {word}", nearest(word, _PIPELINE_OPTIONS)
    if pipeline.output_mode not in _OUTPUT_MODES:
        fix = nearest(pipeline.output_mode, _OUTPUT_MODES)
        yield "output_mode", f"{pipeline.output_mode!r} is none", fix
    every = pipeline.trigger.every
    if every is not None and not _EVERY.fullmatch(every):
        yield "every", f"{every!r} is no interval", "write it as `10 seconds`"
    for name in pipeline.settings:
        if not name.startswith("spark.sql."):
            fix = f"give it to the whole session: --conf {name}={pipeline.settings[name]}"
            yield "settings", f"{name} is none of a single query", fix
    if every is not None and pipeline.trigger.once:
        yield "every", "once ends it, every repeats it", "give one of them"


def _sources(pipeline: Pipeline) -> Found:
    if not pipeline.sources:
        yield "source", "there is none", "give source=topic(NAME)"
    for source in pipeline.sources:
        match source:
            case Topic():
                yield from _topic_source(source)
            case Folder() if source.format not in _FILES:
                yield (
                    "source",
                    f"{source.format} is no format of files",
                    nearest(source.format, _FILES),
                )
            case Table() if not source.database.startswith(("postgresql://", "postgres://")):
                yield "source", f"{source.database!r} is no database", "give postgresql://…"
            case _:
                pass


def _topic_source(source: Topic) -> Found:
    if not source.names:
        yield "source", "no topic is named", "give topic(NAME)"
    yield from _unknown(source, "source")
    if source.at_once is not None and source.at_once < 1:
        yield "source", f"at_once is {source.at_once}", "a batch needs at least one record"
    if not _is_start(source.start):
        fix = "give earliest, latest, a time as 2026-01-31T12:00:00Z, or group:NAME"
        yield "source", f"start={source.start!r} is no position", fix
    match source.format:
        case (Json() | Csv()) as format if format.schema is None:
            kind = type(format).__name__.lower()
            yield "source", f"{kind} is read without a schema", f"give {kind}(A_DATACLASS)"
        case (Avro() | Protobuf()) as format if format.schema is None and format.registry is None:
            yield "source", "nothing says what the bytes mean", "give schema= or registry="


def _unknown(topic: Topic, part: str) -> Found:
    for word in topic.unknown:
        yield part, f"topic has no option {word}", nearest(word, TOPIC_OPTIONS)


def _is_start(text: str) -> bool:
    if text in ("earliest", "latest") or (text.startswith("group:") and len(text) > len("group:")):
        return True
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _contract(pipeline: Pipeline, schema_of: Callable[[Source], StructType | None]) -> Found:
    for source in pipeline.sources:
        schema = schema_of(source)
        if schema is None:
            continue
        for name in RESERVED.intersection(schema.names):
            yield "source", f"a field is called {name}", "call it something else: Ottla uses it"
        for rule in pipeline.contract:
            # What has no words of ours is asked of those who will check the rows.
            compiled = contract.mistakes([rule], arrow_type(schema))
            rest = [("contract", told, "it cannot be checked like this") for told in compiled]
            yield from list(_rule(rule, schema)) or rest
    if pipeline.malformed is Otherwise.WARN:
        yield "malformed", "warn: what cannot be read cannot go on", "drop, dead-letter or stop it"
    goes_dead = [rule.name for rule in pipeline.contract if rule.otherwise is Otherwise.DEAD_LETTER]
    if pipeline.malformed is Otherwise.DEAD_LETTER:
        goes_dead.append("malformed")
    if goes_dead and pipeline.dead_letters is None:
        yield (
            "contract",
            f"{', '.join(goes_dead)}: there is nowhere to send dead letters",
            ("give dead_letters=topic(NAME), or another otherwise="),
        )


def _rule(rule: Rule, schema: StructType) -> Found:
    if rule.kind not in _RULES:
        yield "contract", f"{rule.kind} is no rule", nearest(rule.kind, _RULES)
        return
    if rule.column not in schema.names:
        yield (
            "contract",
            f"{rule.name}: there is no such column",
            nearest(rule.column, schema.names),
        )
        return
    kind = schema[rule.column].dataType
    match rule.kind:
        case "matches":
            yield from _pattern(rule, kind)
        case "between":
            yield from _range(rule, kind)
        case "one_of" if not rule.arguments:
            yield "contract", f"{rule.name} allows no value", "name those that are allowed"


def _pattern(rule: Rule, kind: DataType) -> Found:
    if not isinstance(kind, StringType):
        yield (
            "contract",
            f"{rule.name}: {kind.simpleString()} is no string",
            "use between or one_of",
        )
    try:
        re.compile(rule.arguments[0])
    except re.error as cause:
        yield "contract", f"{rule.name}: {cause}", "it must be a regular expression"


def _range(rule: Rule, kind: DataType) -> Found:
    low, high = rule.arguments
    if low is None and high is None:
        yield "contract", f"{rule.name} has neither end", "give low, high, or both"
    elif low is not None and high is not None and low > high:
        yield "contract", f"{rule.name}: {low} is more than {high}", "change them"
    for end in (low, high):
        if isinstance(kind, NumericType) and isinstance(end, str):
            yield "contract", f"{rule.name}: {end!r} is no number", "the column holds numbers"


def _sink(pipeline: Pipeline) -> Found:
    sink = pipeline.sink
    if isinstance(sink, Topic):
        yield from _unknown(sink, "sink")
        if len(sink.names) != 1:
            yield "sink", f"{len(sink.names)} topics are named", "write to one"
        if sink.delivery not in _DELIVERIES:
            yield "sink", f"delivery={sink.delivery!r} is none", nearest(sink.delivery, _DELIVERIES)
        if (
            isinstance(sink.format, Avro)
            and sink.format.schema is None
            and not sink.format.registry
        ):
            yield "sink", "nothing says how to write Avro", "give schema= or registry="
    if isinstance(sink, ParquetFolder | DeltaTable) and not sink.path:
        yield "sink", "no path is given", "give the folder"


def _together(pipeline: Pipeline) -> Found:
    """What is right on its own, but not beside the rest."""
    sink = pipeline.sink
    names = pipeline.topics
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield "source", f"{name} is read twice", "its records would count twice: read it once"
    if isinstance(sink, Topic) and sink.name in names:
        yield "sink", f"{sink.name} is source and sink", "it would feed itself: write to another"
    letters = pipeline.dead_letters
    if letters is not None and letters.name in names:
        yield "dead_letters", f"{letters.name} is a source, too", "name another topic"
    if isinstance(sink, Topic) and sink.delivery == "realtime":
        if pipeline.contract or letters is not None:
            yield (
                "sink",
                "real-time mode has neither contract nor dead letters",
                ("take them away, or use delivery='exactly-once'"),
            )
        for source in pipeline.sources:
            if not isinstance(source, Topic):
                yield "source", "real-time mode reads topics only", "use another delivery"
            elif not isinstance(source.format, Raw | Text | Json | Csv):
                yield (
                    "source",
                    "real-time mode reads raw, text, JSON and CSV only",
                    ("use another delivery"),
                )


def _reached(pipeline: Pipeline) -> Found:
    if (why := unreachable(pipeline.sink)) is not None:
        yield "sink", why, "see that it is there and may be written to"


def _topics(pipeline: Pipeline, cluster: Cluster) -> Found:
    wanted = [
        *((name, "source") for s in pipeline.sources if isinstance(s, Topic) for name in s.names),
        *([(pipeline.sink.name, "sink")] if isinstance(pipeline.sink, Topic) else []),
        *([(pipeline.dead_letters.name, "dead_letters")] if pipeline.dead_letters else []),
    ]
    if not wanted:
        return
    try:
        there = cluster.topics([name for name, _ in wanted])
    except Unreachable as cause:
        yield "brokers", f"{cause}", "is it running? --bootstrap (-b) says where"
        return
    for name, part in wanted:
        if name not in there:
            yield part, f"there is no topic {name}", f"make it: `ottla topics create {name}`"
