"""Whether a history keeps what Kafka promises; each breach is a finding.

Linear in the number of events, but for some sorting. What nobody knows is never held against the
cluster: an outcome in doubt may be either, but a transaction is whole or absent, never half.
"""

from __future__ import annotations

from ottla.verify.findings import Findings, Report, Statistics
from ottla.verify.group_offsets import GroupOffsets
from ottla.verify.history import History
from ottla.verify.ledger import Ledger, Verdict
from ottla.verify.reading import Reading
from ottla.verify.sightings import Sightings
from ottla.verify.transforming import Transforming
from ottla.verify.verdicts import judge_transactions
from ottla.verify.writes import Writes


def check(history: History) -> Report:
    """`BadHistory` if it contradicts itself: a value sent twice, a transaction never begun."""
    findings = Findings()
    ledger = Ledger(history)
    judge_transactions(ledger, findings)
    sightings = Sightings(ledger, findings)
    sightings.examine_all()
    Writes(ledger, sightings, findings).examine_all()
    Reading(ledger, sightings, findings).examine_all()
    offsets = GroupOffsets(ledger, findings)
    offsets.examine_all()
    transforming = Transforming(ledger, sightings, offsets, findings)
    transforming.examine_all()
    return findings.report(_statistics(history, ledger, transforming.count))


def _statistics(history: History, ledger: Ledger, transformed: int) -> Statistics:
    transactions = ledger.transactions.values()
    in_doubt = [each.is_visible for each in transactions if each.verdict is Verdict.UNKNOWN]
    visible = in_doubt.count(True)
    return Statistics(
        events=len(history.events),
        committed=sum(each.verdict is Verdict.COMMITTED for each in transactions),
        aborted=sum(each.verdict is Verdict.ABORTED for each in transactions),
        unknown_visible=visible,
        unknown_absent=len(in_doubt) - visible,
        records=len(ledger.sends),
        reads=ledger.reads,
        transformed=transformed,
    )
