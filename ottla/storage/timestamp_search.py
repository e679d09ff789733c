"""Looks for the first record of some time or later, step by step.

A batch's header may promise a time that none of its records has, and so may every batch of a log:
no index helps then, and all of it must be read. So no step does more than a little.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Protocol

from ottla.storage.scan import read_batch, walk
from ottla.storage.segment import Segment

_HEADERS_A_STEP = 128
_RECORDS_A_STEP = 1024  # about a millisecond


class _Searched(Protocol):
    """A log, as far as it is needed here."""

    segments: list[Segment]
    log_start_offset: int
    next_offset: int
    cuts: int

    def segment_number(self, offset: int) -> int: ...


class TimestampSearch:
    """Call `step` until it is True; then `found` is (timestamp, offset), or None if there is none.

    Between two steps the log may grow, be cut or be compacted.
    """

    def __init__(self, log: _Searched, timestamp: int) -> None:
        self.found: tuple[int, int] | None = None
        self._log = log
        self._timestamp = timestamp
        self._steps = self._run()

    def step(self) -> bool:
        """Look at some records of one batch, or at one segment's times, or pass a hundred."""
        return next(self._steps, True)

    def _run(self) -> Iterator[bool]:
        log, offset, passed = self._log, 0, 0
        while self.found is None:
            offset = max(offset, log.log_start_offset)
            number, segments = log.segment_number(offset), log.segments
            segment, cuts = segments[number], log.cuts
            was_known = segment.knows_timestamps
            if segment.largest_timestamp() >= self._timestamp:
                for reached in self._look(segment, offset):
                    offset = reached
                    yield False
                    if log.cuts != cuts:
                        offset = 0  # what stands there now may be new
                        break
                    if not _holds(log.segments, segment):
                        break  # compacted: go on in the new one
                else:
                    offset = self._behind(segment)
            else:
                offset, passed = self._behind(segment), passed + 1
                if not was_known or passed % _HEADERS_A_STEP == 0:
                    yield False
                    if log.cuts != cuts:
                        offset = 0
            if offset >= log.next_offset:
                return

    def _behind(self, segment: Segment) -> int:
        """Where the following segment begins; the log's end if there is none."""
        number = self._log.segment_number(segment.base_offset)
        following = self._log.segments[number + 1 : number + 2]
        return following[0].base_offset if following else self._log.next_offset

    def _look(self, segment: Segment, from_offset: int) -> Iterator[int]:
        """Tells where it has come to, and sets `found` if there is one."""
        start = segment.find_time(self._timestamp)
        if start is not None and start.last_offset < from_offset:
            start = segment.find(from_offset)
        if start is None:
            return
        places = walk(segment.log, start.position, segment.size_bytes)
        for count, place in enumerate(places, 1):
            if place.max_timestamp >= self._timestamp and place.last_offset >= from_offset:
                records = read_batch(segment.log, place).each_record()
                for number, record in enumerate(records, 1):
                    if record.timestamp >= self._timestamp and record.offset >= from_offset:
                        self.found = record.timestamp, record.offset
                        return
                    if number % _RECORDS_A_STEP == 0:
                        yield max(record.offset, from_offset)
                yield place.last_offset + 1
            elif count % _HEADERS_A_STEP == 0:
                yield place.last_offset + 1


def largest_timestamp(log: _Searched) -> Generator[None, None, int]:
    """The latest time of all segments, -1 if there is none: a step for each that must be read."""
    largest, offset, cuts = -1, 0, log.cuts
    while True:
        number = log.segment_number(offset)
        was_known = log.segments[number].knows_timestamps
        largest = max(largest, log.segments[number].largest_timestamp())
        if number + 1 == len(log.segments):
            return largest
        offset = log.segments[number + 1].base_offset
        if not was_known or number % _HEADERS_A_STEP == 0:
            yield
            if log.cuts != cuts:
                largest, offset, cuts = -1, 0, log.cuts


def _holds(segments: Sequence[Segment], segment: Segment) -> bool:
    return any(each is segment for each in segments)
