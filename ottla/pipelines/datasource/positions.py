"""Asks a cluster what the options mean: which partitions, from which offsets, up to which."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence

from ottla.pipelines.datasource.offsets import EARLIEST, LATEST, Offsets, Place, names
from ottla.pipelines.datasource.options import (
    AtTime,
    AtTimes,
    BadOptions,
    Boundary,
    Everywhere,
    PerPlace,
    ReadOptions,
)
from ottla.pipelines.datasource.planning import DataLost, Loss, Range, losses, what_is_left
from ottla.pipelines.kafka import Cluster

log = logging.getLogger(__name__)


class Positions:
    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._cluster = Cluster(options.bootstrap, options.client)

    def all_places(self) -> list[Place]:
        """BadOptions if something is asked for that there is not."""
        found = self.places()
        wanted = self._options.subscription
        topics = {topic for topic, _ in found}
        missing = [name for name in wanted.topics if name not in topics]
        missing += [names([place]) for place in wanted.places if place not in found]
        if missing:
            raise BadOptions(f"no such topic or partition: {', '.join(missing)}")
        return found

    def places(self) -> list[Place]:
        """Of what is asked for, that which there is now."""
        wanted = self._options.subscription
        topics: Sequence[str] = wanted.topics or tuple({topic: 0 for topic, _ in wanted.places})
        if wanted.pattern is not None:
            pattern = re.compile(wanted.pattern)
            topics = [name for name in self._cluster.topic_names() if pattern.fullmatch(name)]
        known = self._cluster.topics(topics) if topics else {}
        found = [(name, number) for name in known for number in range(known[name].partitions)]
        return sorted(place for place in found if not wanted.places or place in wanted.places)

    def firsts(self, places: Iterable[Place]) -> Offsets:
        return self._cluster.starts(places)

    def ends(self, places: Iterable[Place]) -> Offsets:
        if self._options.only_committed:
            return self._cluster.stable_ends(places)
        return self._cluster.ends(places)

    def start(self, places: Sequence[Place]) -> Offsets:
        found = self._at(self._options.start, places, "startingOffsets")
        late = [place for place in places if place not in found]
        if late and self._options.is_late_start_an_error:
            raise BadOptions(
                f"no record is as late as the starting time in {names(late)}; "
                "startingOffsetsByTimestampStrategy=latest would start at the end there"
            )
        return found | self.ends(late)

    def end(self, places: Sequence[Place]) -> Offsets:
        found = self._at(self._options.end, places, "endingOffsets")
        return found | self.ends(place for place in places if place not in found)

    def _at(self, boundary: Boundary, places: Sequence[Place], option: str) -> Offsets:
        match boundary:
            case Everywhere(offset):
                return self._resolved(dict.fromkeys(places, offset))
            case PerPlace(offsets):
                _check_all_are_named(option, offsets, places)
                return self._resolved(offsets)
            case AtTime(time_ms):
                return self._cluster.offsets_at_times(dict.fromkeys(places, time_ms))
            case AtTimes(times_ms):
                _check_all_are_named(f"{option}ByTimestamp", times_ms, places)
                return self._cluster.offsets_at_times(times_ms)

    def _resolved(self, offsets: Mapping[Place, int]) -> Offsets:
        firsts = self.firsts(place for place in offsets if offsets[place] == EARLIEST)
        ends = self.ends(place for place in offsets if offsets[place] == LATEST)
        return {**offsets, **firsts, **ends}

    def since(self, time_ms: int, places: Sequence[Place]) -> Offsets:
        """The end, where no record is as late."""
        return self._cluster.offsets_at(places, time_ms)

    def still_there(self, wanted: Sequence[Range], places: Sequence[Place]) -> list[Range]:
        """What of the ranges can still be read; DataLost if that is not all of it."""
        read = {each[:2] for each in wanted}
        firsts = self.firsts(place for place in places if place in read)
        self.lose(losses(wanted, firsts))
        return what_is_left(wanted, firsts)

    def lose(self, lost: Sequence[Loss]) -> None:
        if lost and self._options.fail_on_data_loss:
            raise DataLost(lost)
        for each in lost:
            log.warning("lost: %s", each)


def _check_all_are_named(option: str, given: Mapping[Place, int], places: Sequence[Place]) -> None:
    missing = [place for place in places if place not in given]
    surplus = [place for place in given if place not in places]
    if missing or surplus:
        wrong = [f"lacks {names(missing)}"] * bool(missing)
        wrong += [f"has {names(surplus)}, which is not read"] * bool(surplus)
        raise BadOptions(f"{option} must name exactly the partitions to read: {'; '.join(wrong)}")
