"""Each record that somebody saw: was it sent, is it where it was before, might it be seen yet?"""

from __future__ import annotations

from typing import NamedTuple

from ottla.verify.findings import Finding, Findings, Kind
from ottla.verify.history import Isolation, Outcome, Read, Sent, TopicPartition
from ottla.verify.ledger import AT_THE_END, Ledger, Transaction, Verdict

Place = tuple[TopicPartition, int]
_FINAL = "the final read"
_COMMITTED = Isolation.READ_COMMITTED


class Sighting(NamedTuple):
    reader: str
    partition: TopicPartition
    offset: int
    value: str


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
        """The final reads first: what they hold is the measure for what others saw."""
        for isolation, partitions in self._ledger.finals.items():
            for partition, records in partitions.items():
                for offset, value in records:
                    self._see(_FINAL, partition, offset, value, isolation, AT_THE_END)
        for client, events in self._ledger.consumers.items():
            for event in events:
                if type(event) is Read:
                    _, partition, offset, value, at, isolation = event
                    self._see(client, partition, offset, value, isolation, at)

    def _see(
        self,
        reader: str,
        partition: TopicPartition,
        offset: int,
        value: str,
        isolation: Isolation,
        at: int,
    ) -> None:
        """Millions of times, so nothing is made here that a good history does not need."""
        known = self.places.get(value)
        if known is None:
            self._look_first(Sighting(reader, partition, offset, value))
        elif known[1] != offset or known[0] != partition:
            self._tell_duplicate(Sighting(reader, partition, offset, value))
        if isolation is _COMMITTED:
            send = self._ledger.sends.get(value)
            if send is not None and send.transaction is not None:
                transaction = self._ledger.transactions[send.transaction]
                transaction.is_seen = True
                if at < transaction.readable_from:
                    sighting = Sighting(reader, partition, offset, value)
                    self._tell_too_early(sighting, send, transaction, at)

    def _look_first(self, sighting: Sighting) -> None:
        where = (sighting.partition, sighting.offset)
        self.places[sighting.value] = where
        if self.held.setdefault(where, sighting.value) != sighting.value:
            self._tell_changed(sighting)
        send = self._ledger.sends.get(sighting.value)
        if (
            send is None
            or send.offset != sighting.offset
            or send.partition != sighting.partition
            or send.outcome is Outcome.FAILED
        ):
            self._compare(sighting, send)

    def _compare(self, sighting: Sighting, send: Sent | None) -> None:
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

    def _tell_too_early(
        self, sighting: Sighting, send: Sent, transaction: Transaction, at: int
    ) -> None:
        kind, why = self._why_not(transaction, at)
        where = place(sighting.partition, sighting.offset)
        words = f"{sighting.reader} ({_COMMITTED}) has {sender(send)} at {where}, {why}"
        self._tell(kind, sighting, words)

    def _why_not(self, transaction: Transaction, at: int) -> tuple[Kind, str]:
        """Why none of it may be seen at that time."""
        if transaction.verdict is not Verdict.ABORTED:
            return Kind.DIRTY_READ, "before anyone asked to commit it"
        given_up = transaction.given_up
        if given_up is None or (self._ledger.has_one_clock and at < given_up):
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
