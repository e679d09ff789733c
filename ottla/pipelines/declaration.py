"""What a pipeline is, as it was declared: values only, which can be compared, shown and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

GROUP_PREFIX = "pipeline."
ORIGIN = "_origin"  # the column that says where a row came from; see reading/stage.py
# What a row carries of it when it leaves, to be counted where it arrives; see reading/leaving.py.
PLACE, KEY_CRC, TOPIC = ALONG = ("_origin_place", "_origin_key_crc", "_origin_topic")


class Otherwise(StrEnum):
    """What becomes of a record that breaks a rule."""

    WARN = "warn"  # it goes on, and is counted
    DROP = "drop"
    DEAD_LETTER = "dead-letter"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are: `key`, `value`, `headers`."""


@dataclass(frozen=True, slots=True)
class Text:
    """`key` and `value` as UTF-8."""


@dataclass(frozen=True, slots=True)
class Json:
    schema: StructType | None = None  # None only for writing


@dataclass(frozen=True, slots=True)
class Csv:
    schema: StructType | None = None
    delimiter: str = ","
    has_header: bool = False  # of files; a record of a topic has none


@dataclass(frozen=True, slots=True)
class Avro:
    """Plain with a schema; in Confluent's wire format, if `registry` says where schemas are."""

    schema: str | None = None  # its JSON, or the path of an .avsc file
    registry: str | None = None  # a URL, or a folder of ID.avsc files
    subject: str | None = None  # for writing; TOPIC-value if not given


@dataclass(frozen=True, slots=True)
class Protobuf:
    """Plain, or in Confluent's wire format if `registry` says where schemas are."""

    message: str  # its full name: shop.v1.Order
    schema: str | None = None  # the path of a .proto file or of a descriptor set
    registry: str | None = None
    subject: str | None = None


Format = Raw | Text | Json | Csv | Avro | Protobuf


@dataclass(frozen=True, slots=True)
class Topic:
    """To read from, to write to, or for dead letters; each uses the fields it needs."""

    names: tuple[str, ...]
    format: Format = field(default_factory=Raw)
    start: str = "earliest"  # latest, a time in ISO 8601, or group:NAME
    at_once: int | None = None  # records of one batch, at most; None: as many as make 64 MiB
    key: str | None = None  # the column that becomes the record's key
    delivery: str = "exactly-once"  # parallel or realtime: at least once
    options: Mapping[str, str] = field(default_factory=dict)  # of the client, as it calls them
    unknown: tuple[str, ...] = ()  # options that there are not, for `checking` to name

    @property
    def name(self) -> str:
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Folder:
    """Files of a folder, each read once: CSV, JSON lines or Parquet."""

    path: str
    format: str  # csv, json or parquet
    schema: StructType
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a PostgreSQL table, in the order of a column that only grows."""

    database: str  # postgresql://…
    table: str
    column: str
    at_once: int = 50_000


Source = Topic | Folder | Table


def only_topic(sources: Sequence[Source]) -> str | None:
    """If they are one topic and nothing else."""
    match sources:
        case [Topic(names=[name])]:
            return name
    return None


@dataclass(frozen=True, slots=True)
class ParquetFolder:
    path: str


@dataclass(frozen=True, slots=True)
class DeltaTable:
    path: str
    key: tuple[str, ...] = ()  # rows of the same key are replaced; none: rows are added


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """PostgreSQL, SQLite or DuckDB, by the beginning of `database`."""

    database: str  # postgresql://…, sqlite:FILE, duckdb:FILE
    table: str
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Console:
    rows: int = 20


@dataclass(frozen=True, slots=True)
class Memory:
    name: str  # of the temporary view


@dataclass(frozen=True, slots=True)
class Noop:
    pass


SinkPlace = Topic | ParquetFolder | DeltaTable | DatabaseTable | Console | Memory | Noop


def place_name(place: Source | SinkPlace) -> str:
    """In words that stay the same from run to run."""
    match place:
        case Topic():
            return f"topic {','.join(place.names)}"
        case Folder() | ParquetFolder() | DeltaTable():
            return f"{type(place).__name__} {place.path}"
        case Table() | DatabaseTable():
            return f"table {place.table}"  # where it is may hold a password
        case Memory():
            return f"memory {place.name}"
        case Console() | Noop():
            return type(place).__name__.lower()


@dataclass(frozen=True, slots=True)
class Rule:
    """One promise of the contract about one column."""

    name: str  # not_null(user_id)
    kind: str  # not_null, one_of, between, matches, unique
    column: str
    arguments: tuple[Any, ...] = ()
    otherwise: Otherwise = Otherwise.DEAD_LETTER


@dataclass(frozen=True, slots=True)
class Trigger:
    """Every so often, or once to the end of what there is now."""

    every: str | None = None  # 10 seconds; None: as soon as the batch before is done
    once: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline:
    name: str
    function: Callable[..., DataFrame]
    sources: tuple[Source, ...]
    sink: SinkPlace
    contract: tuple[Rule, ...] = ()
    malformed: Otherwise = Otherwise.STOP  # DEAD_LETTER where dead letters are declared
    dead_letters: Topic | None = None
    trigger: Trigger = Trigger()
    state: str | None = None  # the folder of its checkpoint; None: of the command
    output_mode: str = "append"  # update: changed rows of an aggregation
    settings: Mapping[str, str] = field(default_factory=dict)  # of Spark, for this query
    unknown: tuple[str, ...] = ()  # options that there are not
    place: str = ""  # where it was declared: file and line

    @property
    def is_realtime(self) -> bool:
        return isinstance(self.sink, Topic) and self.sink.delivery == "realtime"

    @property
    def group(self) -> str:
        return GROUP_PREFIX + self.name

    @property
    def topics(self) -> tuple[str, ...]:
        """Those that it reads."""
        topics = [source for source in self.sources if isinstance(source, Topic)]
        return tuple(name for topic in topics for name in topic.names)
