"""What is known of each transaction before anyone looks at what was read: committed, aborted or
neither; and whether fenced producers were held off."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from ottla.verify.findings import Finding, Findings, Kind
from ottla.verify.history import Ended, Initialized, Outcome
from ottla.verify.ledger import NEVER, Ledger, Transaction, Verdict


def judge_transactions(ledger: Ledger, findings: Findings) -> None:
    _find_fences(ledger)
    for transaction in ledger.transactions.values():
        _note_times(transaction)
        zombie = _zombie(transaction)
        is_contradictory = _is_ok(transaction.commits) and _is_ok(transaction.aborts)
        if zombie:
            findings.add(_finding(Kind.ZOMBIE, transaction, zombie))
        if is_contradictory:
            words = "its commit and its abort both succeeded; one of them had to be refused"
            findings.add(_finding(Kind.CONTRADICTION, transaction, words))
        # Whatever such a one shows follows from that; half of it would still be wrong.
        is_odd = is_contradictory or bool(zombie)
        transaction.verdict = Verdict.UNKNOWN if is_odd else _verdict(transaction)
        if transaction.verdict is Verdict.ABORTED:
            transaction.readable_from = NEVER
        elif ledger.has_one_clock:
            transaction.readable_from = transaction.commit_asked or 0


def _note_times(transaction: Transaction) -> None:
    commits, aborts = transaction.commits, transaction.aborts
    asked = [each.asked for each in commits if each.outcome is not Outcome.FAILED]
    transaction.commit_asked = min(asked, default=None)
    given_up = [each.asked for each in commits if each.outcome is Outcome.FAILED]
    given_up += [each.asked for each in aborts]
    given_up += [] if transaction.fenced is None else [transaction.fenced]
    transaction.given_up = min(given_up, default=None)


def _verdict(transaction: Transaction) -> Verdict:
    if _is_ok(transaction.commits):
        return Verdict.COMMITTED
    asked = transaction.commit_asked
    if asked is None or _is_ok(transaction.aborts):
        return Verdict.ABORTED
    if transaction.fenced is not None and asked > transaction.fenced:
        return Verdict.ABORTED
    return Verdict.UNKNOWN


def _is_ok(ends: list[Ended]) -> bool:
    return any(each.outcome is Outcome.OK for each in ends)


def _zombie(transaction: Transaction) -> str:
    """What a fenced producer was let do, or nothing."""
    fence = transaction.fenced
    if fence is None:
        return ""
    for each in transaction.commits:
        if each.outcome is Outcome.OK and each.asked > fence:
            return "its commit, asked for after it was fenced, succeeded; it had to be refused"
    for send in transaction.sends:
        if send.outcome is Outcome.OK and send.asked > fence:
            return f"{send.value!r}, sent after it was fenced, was acknowledged and not refused"
    for sent in transaction.offsets:
        if sent.outcome is Outcome.OK and sent.asked > fence:
            return f"offsets of group {sent.group}, sent after it was fenced, were not refused"
    return ""


def _find_fences(ledger: Ledger) -> None:
    """An epoch is taken between asking for it and hearing of it. So whoever asked after our own
    was answered has fenced us, at the latest when it was answered; of others nobody knows."""
    takers = _takers(ledger)
    heard: dict[tuple[str, str], list[int]] = {}
    for fenced in ledger.fenced:
        heard.setdefault((fenced.client, fenced.transactional_id), []).append(fenced.at)
    nobody = _Takers([])
    for transaction in ledger.transactions.values():
        key = (transaction.client, transaction.transactional_id)
        taken = takers.get(_lane(ledger, *key), nobody)
        own = taken.own_answer(transaction)
        moments = taken.first_answer_after(transaction.began if own is None else own)
        moments += [at for at in heard.get(key, ()) if own is None or at > own]
        transaction.fenced = min(moments, default=None)


class _Takers:
    """Those who took one transactional id, in the order of asking."""

    def __init__(self, taken: list[Initialized]) -> None:
        taken.sort(key=lambda each: each.asked)
        self._asked = [each.asked for each in taken]
        # The first answer among this one and all that asked later.
        answers = accumulate((each.answered for each in reversed(taken)), min)
        self._first_answer = [*answers][::-1]
        self._own: dict[str, list[int]] = {}
        for answered, client in sorted((each.answered, each.client) for each in taken):
            self._own.setdefault(client, []).append(answered)

    def own_answer(self, transaction: Transaction) -> int | None:
        """When its client got the epoch that the transaction has."""
        own = self._own.get(transaction.client, [])
        index = bisect_right(own, transaction.began)
        return own[index - 1] if index else None

    def first_answer_after(self, moment: int) -> list[int]:
        later = bisect_right(self._asked, moment)
        return self._first_answer[later : later + 1]


def _takers(ledger: Ledger) -> dict[tuple[str, str], _Takers]:
    taken: dict[tuple[str, str], list[Initialized]] = {}
    for each in ledger.initialized:
        if each.outcome is Outcome.OK:
            taken.setdefault(_lane(ledger, each.client, each.transactional_id), []).append(each)
    return {lane: _Takers(inits) for lane, inits in taken.items()}


def _lane(ledger: Ledger, client: str, transactional_id: str) -> tuple[str, str]:
    """Without a common clock a client's own order is all there is."""
    return ("" if ledger.has_one_clock else client, transactional_id)


def _finding(kind: Kind, transaction: Transaction, words: str) -> Finding:
    sentence = f"Transaction {transaction.name} of {transaction.client}: {words}."
    return Finding(kind, sentence, transaction.name, transaction.client)
