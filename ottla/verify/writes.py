"""What was acknowledged is there, all of a transaction or nothing, in the order of sending."""

from __future__ import annotations

from operator import attrgetter

from ottla.verify.findings import Finding, Findings, Kind
from ottla.verify.history import Isolation, Outcome, Sent, TopicPartition
from ottla.verify.ledger import Ledger, Transaction, Verdict
from ottla.verify.sightings import Sightings, place, sender


class Writes:
    def __init__(self, ledger: Ledger, sightings: Sightings, findings: Findings) -> None:
        self._ledger = ledger
        self._places = sightings.places
        self._findings = findings
        self._left = {
            isolation: frozenset(value for records in contents.values() for _, value in records)
            for isolation, contents in ledger.finals.items()
        }

    def examine_all(self) -> None:
        for transaction in self._ledger.transactions.values():
            self._settle(transaction)
        plain = [each for each in self._ledger.sends.values() if each.transaction is None]
        self._find_lost(plain)
        self._check_order()

    def _settle(self, transaction: Transaction) -> None:
        """A transaction of which one record is visible took place; then all of it must be."""
        if transaction.verdict is Verdict.ABORTED:
            transaction.is_visible = False
            return  # its records were judged when they were seen
        missing = self._missing(transaction.sends, Isolation.READ_COMMITTED)
        if transaction.verdict is Verdict.COMMITTED:
            transaction.is_visible = True
            self._find_lost(transaction.sends)
        elif transaction.is_seen:
            transaction.is_visible = True
        elif missing:
            transaction.is_visible = False
        if missing and transaction.is_seen:
            self._tell_torn(transaction, missing)

    def _missing(self, sends: list[Sent], isolation: Isolation) -> list[Sent]:
        """What was acknowledged and is gone, as far as a final read can tell."""
        left, finals = self._left[isolation], self._ledger.finals[isolation]
        return [
            each
            for each in sends
            if each.value not in left and each.outcome is Outcome.OK and each.partition in finals
        ]

    def _find_lost(self, sends: list[Sent]) -> None:
        told: dict[str, None] = {}
        for isolation in Isolation:
            for send in self._missing(sends, isolation):
                if send.value not in told:
                    told[send.value] = None
                    self._tell_lost(send, isolation)

    def _tell_lost(self, send: Sent, isolation: Isolation) -> None:
        where = str(send.partition) if send.offset is None else place(send.partition, send.offset)
        committed = "" if send.transaction is None else " and committed"
        sentence = (
            f"{sender(send)} was acknowledged at {where}{committed}; "
            f"the final read ({isolation}) does not have it."
        )
        found = Finding(Kind.LOST_WRITE, sentence, send.transaction, send.client, send.partition)
        self._findings.add(found._replace(offset=send.offset))

    def _tell_torn(self, transaction: Transaction, missing: list[Sent]) -> None:
        first = missing[0]
        where = first.partition if first.offset is None else place(first.partition, first.offset)
        outcome = "committed" if transaction.verdict is Verdict.COMMITTED else "in doubt"
        sentence = (
            f"Transaction {transaction.name} of {transaction.client} ({outcome}) is torn: "
            f"{len(missing)} of its {len(transaction.sends)} records are not visible, "
            f"the first {first.value!r} at {where}, and others are; expected all or none."
        )
        torn = Kind.TORN_TRANSACTION
        found = Finding(torn, sentence, transaction.name, transaction.client, first.partition)
        self._findings.add(found._replace(offset=first.offset))

    def _check_order(self) -> None:
        """Of one client in one partition, by what was seen, or else by what was acknowledged."""
        furthest: dict[tuple[str, TopicPartition], tuple[int, Sent]] = {}
        for send in sorted(self._ledger.sends.values(), key=attrgetter("asked")):
            seen = self._places.get(send.value)
            offset = seen[1] if seen is not None and seen[0] == send.partition else send.offset
            if offset is None:
                continue
            key = (send.client, send.partition)
            before = furthest.get(key)
            if before is None or offset > before[0]:
                furthest[key] = (offset, send)
            elif offset < before[0]:
                self._tell_reordered(send, offset, *before)

    def _tell_reordered(self, send: Sent, offset: int, further: int, earlier: Sent) -> None:
        sentence = (
            f"{sender(send)} is at {place(send.partition, offset)}, before {earlier.value!r} "
            f"at {further}, which the same producer had sent earlier."
        )
        found = Finding(Kind.REORDERED, sentence, send.transaction, send.client, send.partition)
        self._findings.add(found._replace(offset=offset))
