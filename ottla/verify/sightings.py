"""Each record that somebody saw: was it sent, is it where it was before, might it be seen yet?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ottla.verify.findings import Finding, Findings, Kind
from ottla.verify.history import Isolation, Outcome, Read, Sent, TopicPartition
from ottla.verify.ledger import Ledger, Transaction, Verdict

Place = tuple[TopicPartition, int]
_FINAL = "the final read"
_COMMITTED = Isolation.READ_COMMITTED


class Sighting(NamedTuple):
    """`at` is None in the end, when all is over."""

    reader: str
    partition: TopicPartition
    offset: int
    value: str
    isolation: Isolation
    at: int | None


def place(partition: TopicPartition, offset: int) -> str:
    return f"offset {offset} of {partition}"


def sender(send: Sent) -> str:
    """Who sent it, for a sentence."""
    within = "" if send.transaction is None else f" in transaction {send.transaction}"
    return f"{send.value!r}, sent by {send.client}{within},"


class Sightings:
    """`places` is where each record was first seen, `held` what each place held first."""

    def __init__(self, ledger: Ledger, findings: Findings) -> None:
        self.places: dict[str, Place] = {}
        self.held: dict[Place, str] = {}
        self._told: dict[tuple[str, Place], None] = {}
        self._ledger = ledger
        self._findings = findings

    def examine_all(self) -> None:
        for sighting in _sightings(self._ledger):
            where = (sighting.partition, sighting.offset)
            if self.held.setdefault(where, sighting.value) != sighting.value:
                self._tell_changed(sighting)
            send = self._ledger.sends.get(sighting.value)
            if sighting.value not in self.places:
                self.places[sighting.value] = where
                self._look_first(sighting, send)
            elif self.places[sighting.value] != where:
                self._tell_duplicate(sighting)
            if sighting.isolation is _COMMITTED and send is not None:
                self._look_at_transaction(sighting, send)

    def _look_first(self, sighting: Sighting, send: Sent | None) -> None:
        at = place(sighting.partition, sighting.offset)
        if send is None:
            words = f"{sighting.reader} has {sighting.value!r} at {at}, which nobody sent"
            self._tell(Kind.INVENTED, sighting, words)
        elif send.outcome is Outcome.FAILED:
            words = f"{sighting.reader} has {sender(send)} at {at}, though the send surely failed"
            self._tell(Kind.INVENTED, sighting, words)
        elif send.partition != sighting.partition:
            words = f"{sender(send)} to {send.partition} is at {at}"
            self._tell(Kind.CHANGED, sighting, words)
        elif send.offset is not None and send.offset != sighting.offset:
            words = f"{sender(send)} was acknowledged at offset {send.offset} and is at {at}"
            self._tell(Kind.CHANGED, sighting, words)

    def _look_at_transaction(self, sighting: Sighting, send: Sent) -> None:
        transaction = self._ledger.transaction_of(send)
        if transaction is None:
            return
        transaction.is_seen = True
        if fault := self._too_early(transaction, sighting.at):
            kind, why = fault
            at = place(sighting.partition, sighting.offset)
            words = f"{sighting.reader} ({_COMMITTED}) has {sender(send)} at {at}, {why}"
            self._tell(kind, sighting, words)

    def _too_early(self, transaction: Transaction, at: int | None) -> tuple[Kind, str] | None:
        """Why none of it may be seen at that time, if so."""
        knows_time = at is not None and self._ledger.has_one_clock
        if transaction.verdict is not Verdict.ABORTED:
            asked = transaction.commit_asked
            if not knows_time or asked is None or at is None or at >= asked:
                return None
            return Kind.DIRTY_READ, "before anyone asked to commit it"
        given_up = transaction.given_up
        if given_up is None or (knows_time and at is not None and at < given_up):
            return Kind.DIRTY_READ, "and the transaction was still open"
        if transaction.fenced == given_up:
            return Kind.ABORTED_READ, "though its producer was fenced before a commit"
        return Kind.ABORTED_READ, "though it was aborted"

    def _tell_changed(self, sighting: Sighting) -> None:
        where = (sighting.partition, sighting.offset)
        if self._is_news(sighting.value, where):
            words = f"{place(*where)} held {self.held[where]!r}, and {sighting.reader} has "
            self._tell(Kind.CHANGED, sighting, f"{words}{sighting.value!r} there")

    def _tell_duplicate(self, sighting: Sighting) -> None:
        where = (sighting.partition, sighting.offset)
        if self._is_news(sighting.value, where):
            first = place(*self.places[sighting.value])
            words = f"{sighting.value!r} is at {first} and again at {place(*where)}"
            self._tell(Kind.DUPLICATE, sighting, f"{words}; it was sent once")

    def _is_news(self, value: str, where: Place) -> bool:
        """One fault is told once, however many have seen it."""
        is_news = (value, where) not in self._told
        self._told[value, where] = None
        return is_news

    def _tell(self, kind: Kind, sighting: Sighting, words: str) -> None:
        send = self._ledger.sends.get(sighting.value)
        sentence = f"{words[0].upper()}{words[1:]}."
        self._findings.add(
            Finding(
                kind,
                sentence,
                None if send is None else send.transaction,
                sighting.reader if send is None else send.client,
                sighting.partition,
                sighting.offset,
            )
        )


def _sightings(ledger: Ledger) -> Iterator[Sighting]:
    """The final reads first: what they hold is the measure for what others saw."""
    for isolation, partitions in ledger.finals.items():
        for partition, records in partitions.items():
            for offset, value in records:
                yield Sighting(_FINAL, partition, offset, value, isolation, None)
    for client, events in ledger.consumers.items():
        for event in events:
            if isinstance(event, Read):
                yield Sighting(
                    client, event.partition, event.offset, event.value, event.isolation, event.at
                )
