"""The dead letters of a topic: found, sent back to where they came from, or discarded.

What was decided on each stands in a topic beside it, in the same transaction that sends it. One
transactional id for each topic of dead letters: of two who redrive at once, the first is fenced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from ottla.pipelines.kafka import Cluster, KnownTopic
from ottla.pipelines.repair.letter_records import (
    NotALetter,
    StoredLetter,
    from_record,
    headers_to_redrive,
)
from ottla.pipelines.repair.markers import (
    MARKERS_SUFFIX,
    Marker,
    State,
    marker_key,
    origin_of,
    parse_marker,
    parse_marker_key,
)
from ottla.pipelines.topic_records import NoSuchTopic, Record, places_of, read_records
from ottla.pipelines.transactional import Outgoing, TransactionalWriter, create_topic
from ottla.timing.clock import Clock

AT_ONCE = 100  # letters of one transaction
_LOOKS = 100
_FOREVER_MS = 2**63


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which letters; what is None does not matter."""

    rule: str | None = None
    topic: str | None = None  # where it came from
    partition: int | None = None
    state: State | None = None
    from_ms: int = 0  # when it was laid aside
    to_ms: int = _FOREVER_MS
    limit: int | None = None
    only: tuple[tuple[int, int], ...] = ()  # these, by their partition and offset

    def waiting(self) -> Wanted:
        return replace(self, state=State.WAITING)

    def matches(self, found: FoundLetter) -> bool:
        letter = found.stored.letter
        return (
            (not self.only or (found.partition, found.offset) in self.only)
            and self.rule in (None, letter.rule)
            and self.topic in (None, letter.topic)
            and self.partition in (None, letter.partition)
            and self.state in (None, found.state)
            and self.from_ms <= found.laid_aside_ms < self.to_ms
        )


class FoundLetter(NamedTuple):
    partition: int  # of the topic of dead letters, as the offset
    offset: int
    laid_aside_ms: int
    stored: StoredLetter
    marker: Marker | None

    @property
    def state(self) -> State:
        return State.WAITING if self.marker is None else self.marker.state


class DeadLetters:
    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        clock: Clock,
        *,
        on_look: Callable[[int], None] = lambda count: None,
    ) -> None:
        """`on_look` hears how many records were looked at so far, wanted or not."""
        self._cluster = cluster
        self._clock = clock
        self._on_look = on_look
        self._looked_at = 0
        self.topic = topic
        self.markers_topic = topic + MARKERS_SUFFIX
        self.strangers = 0  # records met that are no letters

    def find(self, wanted: Wanted) -> Iterator[FoundLetter]:
        """Partition by partition, in the order of offsets; up to where they end now."""
        places = places_of(self._cluster, self.topic)
        starts = self._cluster.offsets_at(places, wanted.from_ms)
        ends = self._cluster.ends(places)
        markers = self._markers()
        found = (
            letter
            for place in places
            for record in read_records(self._cluster, {place: (starts[place], ends[place])})
            if (letter := self._letter(record, markers)) is not None and wanted.matches(letter)
        )
        return islice(found, wanted.limit)

    def get(self, partition: int, offset: int) -> FoundLetter | None:
        places = places_of(self._cluster, self.topic)
        if (self.topic, partition) not in places:
            return None
        wanted = {(self.topic, partition): (offset, offset + 1)}
        for record in read_records(self._cluster, wanted):
            if record.offset == offset:
                return self._letter(record, self._markers())
        return None

    def redrive(
        self, wanted: Wanted, *, to: str | None = None, again: bool = False, at_once: int = AT_ONCE
    ) -> Iterator[list[FoundLetter]]:
        """Those of each transaction once it is committed. Only who waits, unless `again`."""
        targets: dict[str, KnownTopic] = {}
        for writer, chunk in self._decided(wanted if again else wanted.waiting(), at_once):
            self._look_up([to or letter.stored.letter.topic for letter in chunk], targets)
            writer.write([out for letter in chunk for out in self._sent(letter, to, targets)])
            yield chunk

    def discard(self, wanted: Wanted, *, at_once: int = AT_ONCE) -> Iterator[list[FoundLetter]]:
        for writer, chunk in self._decided(wanted.waiting(), at_once):
            writer.write([self._marked(letter, State.DISCARDED, "") for letter in chunk])
            yield chunk

    def _decided(
        self, wanted: Wanted, at_once: int
    ) -> Iterator[tuple[TransactionalWriter, list[FoundLetter]]]:
        places_of(self._cluster, self.topic)
        self._make_markers_topic()
        # Before the markers are read: what somebody else has decided is there then, or never is.
        writer = TransactionalWriter(self._cluster, f"ottla.redrive.{self.topic}")
        self._forget_the_gone(writer)
        letters = self.find(wanted)
        while chunk := list(islice(letters, at_once)):
            yield writer, chunk

    def _sent(
        self, found: FoundLetter, to: str | None, targets: dict[str, KnownTopic]
    ) -> list[Outgoing]:
        letter = found.stored.letter
        target = to or letter.topic
        # Back to its partition, so that it stays in order with what has its key.
        is_back = to is None and letter.partition < targets[target].partitions
        outgoing = Outgoing(
            target,
            letter.partition if is_back else None,
            max(0, letter.timestamp_ms),
            letter.key,
            letter.value,
            headers_to_redrive(found.stored),
        )
        return [outgoing, self._marked(found, State.REDRIVEN, target)]

    def _marked(self, found: FoundLetter, state: State, to: str) -> Outgoing:
        times = (found.marker.times if found.marker else 0) + (state is State.REDRIVEN)
        origin = origin_of(found.stored.letter)
        marker = Marker(state, self._clock.now_ms(), to, times, origin)
        key = marker_key(self.topic, found.partition, found.offset)
        return Outgoing(self.markers_topic, 0, 0, key, marker.value())

    def _look_up(self, names: list[str], targets: dict[str, KnownTopic]) -> None:
        unknown = [name for name in dict.fromkeys(names) if name not in targets]
        if unknown:
            targets |= self._cluster.topics(unknown)
        if gone := [name for name in unknown if name not in targets]:
            raise NoSuchTopic(
                f"{self._cluster.bootstrap} has no topic {gone[0]} to send letters to: "
                "create it, or name another"
            )

    def _make_markers_topic(self) -> None:
        """To take it for missing when it is only not yet known would be to redrive twice."""
        create_topic(self._cluster, self.markers_topic, {"cleanup.policy": "compact"})
        for _ in range(_LOOKS):
            if self.markers_topic in self._cluster.topics([self.markers_topic]):
                return
        raise NoSuchTopic(
            f"{self._cluster.bootstrap} does not know {self.markers_topic} yet: try again"
        )

    def _forget_the_gone(self, writer: TransactionalWriter) -> None:
        """Of letters that were deleted, by retention as a rule, nothing needs to be known."""
        starts = self._cluster.starts(places_of(self._cluster, self.topic))
        gone = []
        for key, marker in self._markers().items():
            letter = parse_marker_key(key)
            if marker is not None and letter is not None and letter[1] < starts.get(letter[0], 0):
                gone.append(Outgoing(self.markers_topic, 0, 0, key, None))
        if gone:
            writer.write(gone)

    def _markers(self) -> dict[bytes, Marker | None]:
        if self.markers_topic not in self._cluster.topics([self.markers_topic]):
            return {}
        places = places_of(self._cluster, self.markers_topic)
        starts, ends = self._cluster.starts(places), self._cluster.ends(places)
        records = read_records(
            self._cluster, {place: (starts[place], ends[place]) for place in places}
        )
        return {record.key or b"": parse_marker(record.value) for record in records}

    def _letter(self, record: Record, markers: dict[bytes, Marker | None]) -> FoundLetter | None:
        self._looked_at += 1
        self._on_look(self._looked_at)
        try:
            stored = from_record(record.key, record.value, record.headers)
        except NotALetter:
            self.strangers += 1
            return None
        marker = markers.get(marker_key(self.topic, record.partition, record.offset))
        if marker is not None and marker.origin != origin_of(stored.letter):
            marker = None
        return FoundLetter(record.partition, record.offset, record.timestamp_ms, stored, marker)
