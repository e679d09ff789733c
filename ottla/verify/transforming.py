"""A loop that reads, transforms and writes in transactions: each input has one output, visible."""

from __future__ import annotations

from ottla.verify.findings import Finding, Findings, Kind
from ottla.verify.group_offsets import GroupOffsets, GroupPartition
from ottla.verify.history import Isolation, Outcome, Sent, Source
from ottla.verify.ledger import Content, Ledger
from ottla.verify.sightings import Sightings, place, sender


class Transforming:
    """An input is one that the group's offsets have passed, from where the group began."""

    def __init__(
        self, ledger: Ledger, sightings: Sightings, offsets: GroupOffsets, findings: Findings
    ) -> None:
        self._ledger = ledger
        self._findings = findings
        self._begin = offsets.before
        self._end = _ends(offsets)
        self._outputs = _outputs(ledger, sightings)
        self.count = len(self._outputs)

    def examine_all(self) -> None:
        visible = self._ledger.finals[Isolation.READ_COMMITTED]
        there = {
            partition: frozenset(offset for offset, _ in records)
            for partition, records in visible.items()
        }
        for source, outputs in self._outputs.items():
            group, partition, offset = source
            if len(outputs) > 1:
                self._tell_twice(source, outputs)
            if offset >= self._end.get((group, partition), 0):
                self._tell_torn(source, outputs[0])
            if partition in there and offset not in there[partition]:
                self._tell_aborted_input(source, outputs[0])
        groups = {each.source.group: None for each in self._ledger.sends.values() if each.source}
        for key in self._end:
            if key[0] in groups:
                self._check_inputs(key, visible.get(key[1], []))

    def _check_inputs(self, key: GroupPartition, inputs: Content) -> None:
        group, partition = key
        begin, end = self._begin.get(key, 0), self._end.get(key, 0)
        for offset, value in inputs:
            if begin <= offset < end and Source(group, partition, offset) not in self._outputs:
                sentence = (
                    f"{value!r} at {place(partition, offset)} has no output, though group {group} "
                    f"has committed offset {end}; expected one."
                )
                found = Finding(Kind.NOT_TRANSFORMED, sentence, None, None, partition, offset)
                self._findings.add(found)

    def _tell_twice(self, source: Source, outputs: list[Sent]) -> None:
        names = " and ".join(f"{each.value!r} (transaction {each.transaction})" for each in outputs)
        sentence = (
            f"{place(source.partition, source.offset)} was transformed {len(outputs)} times by "
            f"group {source.group}: {names} are visible; expected one."
        )
        self._tell(Kind.TRANSFORMED_TWICE, source, outputs[1], sentence)

    def _tell_torn(self, source: Source, output: Sent) -> None:
        sentence = (
            f"{sender(output)} is visible, and {place(source.partition, source.offset)}, which it "
            f"was made from, is not passed by the offsets of group {source.group}; expected both "
            "or none."
        )
        self._tell(Kind.TORN_TRANSACTION, source, output, sentence)

    def _tell_aborted_input(self, source: Source, output: Sent) -> None:
        sentence = (
            f"{sender(output)} was made from {place(source.partition, source.offset)}, where no "
            "committed record is."
        )
        self._tell(Kind.ABORTED_READ, source, output, sentence)

    def _tell(self, kind: Kind, source: Source, output: Sent, sentence: str) -> None:
        sentence = f"{sentence[0].upper()}{sentence[1:]}"
        found = Finding(kind, sentence, output.transaction, output.client)
        self._findings.add(found._replace(partition=source.partition, offset=source.offset))


def _outputs(ledger: Ledger, sightings: Sightings) -> dict[Source, list[Sent]]:
    """The visible ones: seen, or where nobody looked in the end, acknowledged; and committed."""
    finals = ledger.finals[Isolation.READ_COMMITTED]
    found: dict[Source, list[Sent]] = {}
    for send in ledger.sends.values():
        if send.source is None:
            continue
        transaction = ledger.transaction_of(send)
        is_unread = send.outcome is Outcome.OK and send.partition not in finals
        if (is_unread or send.value in sightings.places) and (
            transaction is None or transaction.is_visible
        ):
            found.setdefault(send.source, []).append(send)
    return found


def _ends(offsets: GroupOffsets) -> dict[GroupPartition, int]:
    return {
        key: max((each.offset for each in commits if each.is_sure), default=0)
        for key, commits in offsets.commits.items()
    }
