"""The options of `format("ottla")`: those of Spark's connector, with its names and meaning.

Spark hands them over in lower case. What is wrong is told all at once, each by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple, TypeVar

from ottla.pipelines.datasource.offsets import (
    EARLIEST,
    LATEST,
    Offsets,
    Place,
    parse_offsets,
    parse_places,
)

T = TypeVar("T")


def _by_lower_case(*names: str) -> dict[str, str]:
    return {name.lower(): name for name in names}


SOURCE_OPTIONS = _by_lower_case(
    "assign", "subscribe", "subscribePattern",
    "startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp",
    "failOnDataLoss", "includeHeaders", "groupIdPrefix",
    "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay",
    "minPartitions", "maxRecordsPerPartition", "kafkaConsumer.pollTimeoutMs",
    # Without effect: this client asks again by itself.
    "fetchOffset.numRetries", "fetchOffset.retryIntervalMs",
)  # fmt: skip
SINK_OPTIONS = _by_lower_case("topic", "includeHeaders")
# Spark hands over its own among ours.
_SPARKS = _by_lower_case("path", "checkpointLocation", "queryName", "outputMode")

_CLIENT = "kafka."
_BOOTSTRAP = "bootstrap.servers"
_OURS = "the source sees to it itself"
_BYTES = "keys and values are bytes; convert them with Spark"
_NOT_FOR_SOURCES = {
    "auto.offset.reset": "say startingOffsets and failOnDataLoss instead",
    "enable.auto.commit": "offsets are kept in the checkpoint",
    "enable.auto.offset.store": _OURS,
    "enable.partition.eof": _OURS,
    "key.deserializer": _BYTES,
    "value.deserializer": _BYTES,
}
_NOT_FOR_SINKS = {
    "transactional.id": "this sink writes at least once, without transactions",
    "key.serializer": _BYTES,
    "value.serializer": _BYTES,
}
_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


class BadOptions(ValueError):
    """What is wrong with them, a sentence each."""


class Everywhere(NamedTuple):
    offset: int  # EARLIEST or LATEST


class PerPlace(NamedTuple):
    offsets: Offsets  # EARLIEST and LATEST among them


class AtTime(NamedTuple):
    time_ms: int


class AtTimes(NamedTuple):
    times_ms: dict[Place, int]


Boundary = Everywhere | PerPlace | AtTime | AtTimes


@dataclass(frozen=True, slots=True)
class Subscription:
    """One of the three."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    client: Mapping[str, str]
    subscription: Subscription
    start: Boundary
    end: Boundary
    is_late_start_an_error: bool
    fail_on_data_loss: bool
    include_headers: bool
    most_offsets: int | None
    least_offsets: int | None
    longest_wait_ms: int
    least_partitions: int | None
    most_records: int | None
    poll_timeout_ms: int

    @property
    def bootstrap(self) -> str:
        return self.client[_BOOTSTRAP]

    @property
    def only_committed(self) -> bool:
        return self.client["isolation.level"] == "read_committed"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    client: Mapping[str, str]
    topic: str | None


def read_options(options: Mapping[str, str], *, streaming: bool) -> ReadOptions:
    given = _Given(options, SOURCE_OPTIONS)
    # Java's client has this default, librdkafka has the other.
    client = {"isolation.level": "read_uncommitted"} | given.client(_NOT_FOR_SOURCES)
    client.setdefault("group.id", given.text("groupIdPrefix") or "spark-ottla-source")
    found = ReadOptions(
        client=client,
        subscription=_subscription(given),
        start=_start(given, streaming=streaming),
        end=_end(given, streaming=streaming),
        is_late_start_an_error=given.word(
            "startingOffsetsByTimestampStrategy", {"error": True, "latest": False}, default=True
        ),
        fail_on_data_loss=given.flag("failOnDataLoss", default=True),
        include_headers=given.flag("includeHeaders", default=False),
        most_offsets=given.count("maxOffsetsPerTrigger"),
        least_offsets=given.count("minOffsetsPerTrigger"),
        longest_wait_ms=given.parsed("maxTriggerDelay", _duration_ms) or 15 * 60_000,
        least_partitions=given.count("minPartitions"),
        most_records=given.count("maxRecordsPerPartition"),
        poll_timeout_ms=given.count("kafkaConsumer.pollTimeoutMs") or 120_000,
    )
    given.finish()
    return found


def write_options(options: Mapping[str, str]) -> WriteOptions:
    given = _Given(options, SINK_OPTIONS)
    found = WriteOptions(given.client(_NOT_FOR_SINKS), given.text("topic"))
    given.finish()
    return found


def _subscription(given: _Given) -> Subscription:
    ways = ("assign", "subscribe", "subscribePattern")
    chosen = [name for name in ways if given.text(name)]
    if len(chosen) != 1:
        said = f"not {' and '.join(chosen)}" if chosen else "none is given"
        given.refuse(f"one of assign, subscribe or subscribePattern must say what to read: {said}")
    pattern = given.parsed("subscribePattern", _pattern)
    topics = [name.strip() for name in (given.text("subscribe") or "").split(",")]
    places = given.parsed("assign", parse_places) or []
    return Subscription(tuple(filter(None, topics)), pattern, tuple(places))


def _start(given: _Given, *, streaming: bool) -> Boundary:
    usual = LATEST if streaming else EARLIEST
    found = _boundary(given, "starting", Everywhere(usual))
    if not streaming and _names(found, LATEST):
        given.refuse("startingOffsets: a batch read cannot start at the latest (-1)")
    return found


def _end(given: _Given, *, streaming: bool) -> Boundary:
    for name in ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"):
        if streaming and given.text(name):
            given.refuse(f"{name}: a stream has no end; give it to spark.read")
    found = _boundary(given, "ending", Everywhere(LATEST))
    if _names(found, EARLIEST):
        given.refuse("endingOffsets: nothing ends at the earliest (-2)")
    return found


def _boundary(given: _Given, edge: str, usual: Boundary) -> Boundary:
    """As in the connector, one time is stronger than times, and times than offsets."""
    if (time_ms := given.parsed(f"{edge}Timestamp", _time_ms)) is not None:
        return AtTime(time_ms)
    if (times := given.parsed(f"{edge}OffsetsByTimestamp", parse_offsets)) is not None:
        return AtTimes(times)
    return given.parsed(f"{edge}Offsets", _offsets) or usual


def _names(boundary: Boundary, offset: int) -> bool:
    match boundary:
        case Everywhere(everywhere):
            return everywhere == offset
        case PerPlace(offsets):
            return offset in offsets.values()
        case _:
            return False


def _offsets(text: str) -> Boundary:
    words = {"earliest": EARLIEST, "latest": LATEST}
    if text.lower() in words:
        return Everywhere(words[text.lower()])
    return PerPlace(parse_offsets(text))


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as cause:
        raise ValueError(f"not a regular expression: {cause}") from cause
    return text


def _time_ms(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError(f"not milliseconds since 1970: {text}")
    return int(text)


def _duration_ms(text: str) -> int:
    found = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower())
    if found is None or (found[2] or "ms") not in _UNITS_MS:
        raise ValueError(f"not a duration as 500ms, 30s, 15m or 1h: {text}")
    return int(found[1]) * _UNITS_MS[found[2] or "ms"]


class _Given:
    """What was given, and what was found wrong with it."""

    def __init__(self, options: Mapping[str, str], known: Mapping[str, str]) -> None:
        self._options = {name.lower(): value for name, value in options.items()}
        self._known = known
        self._wrong: list[str] = []
        for name in self._options:
            if not (name in known or name in _SPARKS or name.startswith(_CLIENT)):
                self.refuse(_unknown(name, known))

    def refuse(self, sentence: str) -> None:
        self._wrong.append(sentence)

    def finish(self) -> None:
        if self._wrong:
            raise BadOptions("; ".join(self._wrong))

    def client(self, forbidden: Mapping[str, str]) -> dict[str, str]:
        """The client's settings, by its names for them."""
        found = {
            name.removeprefix(_CLIENT): value
            for name, value in self._options.items()
            if name.startswith(_CLIENT)
        }
        for name, why in forbidden.items():
            if name in found:
                self.refuse(f"{_CLIENT}{name} cannot be set: {why}")
        if not found.get(_BOOTSTRAP):
            self.refuse(f"{_CLIENT}{_BOOTSTRAP} is missing: host:port of a broker")
        return found

    def text(self, name: str) -> str | None:
        return self._options.get(name.lower()) or None

    def parsed(self, name: str, parse: Callable[[str], T]) -> T | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as cause:
            self.refuse(f"{name}: {cause}")
            return None

    def count(self, name: str) -> int | None:
        text = self.text(name)
        if text is not None and (not text.strip().isdecimal() or int(text) < 1):
            self.refuse(f"{name}: must be a number above 0: {text}")
            return None
        return None if text is None else int(text)

    def flag(self, name: str, *, default: bool) -> bool:
        return self.word(name, {"true": True, "false": False}, default=default)

    def word(self, name: str, meanings: Mapping[str, T], *, default: T) -> T:
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in meanings:
            self.refuse(f"{name}: must be {' or '.join(meanings)}: {text}")
        return meanings.get(text.lower(), default)


def _unknown(name: str, known: Mapping[str, str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"no such option: {name}" + (f"; did you mean {known[near[0]]}?" if near else "")
