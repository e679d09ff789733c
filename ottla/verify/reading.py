"""Each consumer reads forward and passes nothing by."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from ottla.verify.findings import Finding, Findings, Kind
from ottla.verify.history import Assigned, Isolation, Outcome, Read, Seeked, TopicPartition
from ottla.verify.ledger import Content, Ledger, Verdict
from ottla.verify.sightings import Sightings, place, sender


class Reading:
    """What is to be read is what the final read has, or else what was committed."""

    def __init__(self, ledger: Ledger, sightings: Sightings, findings: Findings) -> None:
        self._ledger = ledger
        self._held = sightings.held
        self._findings = findings
        self._offsets: dict[Isolation, dict[TopicPartition, list[int]]] = {
            isolation: _offsets(ledger.finals[isolation]) for isolation in Isolation
        }
        for isolation, found in self._offsets.items():
            found.update(_acknowledged(ledger, isolation))

    def examine_all(self) -> None:
        for isolation, partitions in self._ledger.finals.items():
            for partition, records in partitions.items():
                self._check_ascending(partition, isolation, records)
        for client, events in self._ledger.consumers.items():
            self._follow(client, events)

    def _follow(self, client: str, events: list[Assigned | Seeked | Read]) -> None:
        positions: dict[TopicPartition, int] = {}
        for event in events:
            match event:
                case Read(_, partition, offset):
                    position = positions.get(partition, offset)
                    if position != offset:
                        self._check_read(client, event, position)
                    positions[partition] = max(offset + 1, position)
                case Assigned():
                    positions = {each: offset for each, offset in event.positions if offset >= 0}
                case Seeked():
                    positions[event.partition] = event.offset

    def _check_read(self, client: str, read: Read, position: int) -> None:
        if read.offset < position:
            where = place(read.partition, read.offset)
            words = f"read {read.value!r} at {where}, though it was at {position} and did not seek"
            self._tell(Kind.REORDERED, client, read, words)
            return
        offsets = self._offsets[read.isolation].get(read.partition, [])
        first = bisect_left(offsets, position)
        last = bisect_left(offsets, read.offset, lo=first)
        if last > first:
            self._tell_missed(client, read, offset=offsets[first], count=last - first)

    def _tell_missed(self, client: str, read: Read, *, offset: int, count: int) -> None:
        value = self._held.get((read.partition, offset), "")
        send = self._ledger.sends.get(value)
        what = repr(value) if send is None else sender(send)
        words = (
            f"went on to {place(read.partition, read.offset)} and passed {count} by, the first "
            f"at offset {offset}: {what} expected"
        )
        self._tell(Kind.MISSED_READ, client, read._replace(offset=offset, value=value), words)

    def _check_ascending(
        self, partition: TopicPartition, isolation: Isolation, records: Content
    ) -> None:
        furthest = -1
        for offset, value in records:
            if offset <= furthest:
                words = f"has {value!r} at offset {offset} of {partition} after offset {furthest}"
                sentence = f"The final read ({isolation}) {words}."
                found = Finding(Kind.REORDERED, sentence, partition=partition, offset=offset)
                self._findings.add(found)
            furthest = max(furthest, offset)

    def _tell(self, kind: Kind, client: str, read: Read, words: str) -> None:
        send = self._ledger.sends.get(read.value)
        transaction = None if send is None else send.transaction
        sentence = f"Consumer {client} ({read.isolation}) {words}."
        found = Finding(kind, sentence, transaction, client, read.partition, read.offset)
        self._findings.add(found)


def _offsets(contents: Mapping[TopicPartition, Content]) -> dict[TopicPartition, list[int]]:
    return {
        partition: sorted({offset for offset, _ in records})
        for partition, records in contents.items()
    }


def _acknowledged(ledger: Ledger, isolation: Isolation) -> dict[TopicPartition, list[int]]:
    """Of the partitions that nobody read in the end."""
    finals = ledger.finals[isolation]
    found: dict[TopicPartition, list[int]] = {}
    for send in ledger.sends.values():
        if send.partition in finals or send.outcome is not Outcome.OK or send.offset is None:
            continue
        transaction = ledger.transaction_of(send)
        if transaction is None or transaction.verdict is Verdict.COMMITTED:
            found.setdefault(send.partition, []).append(send.offset)
    for offsets in found.values():
        offsets.sort()
    return found
