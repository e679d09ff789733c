"""A group's offsets: what is fetched was committed, is not older than it must be, and never goes
back; those sent in a transaction share its fate."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from ottla.verify.findings import Finding, Findings, Kind
from ottla.verify.history import OffsetsFetched, Outcome, TopicPartition
from ottla.verify.ledger import NEVER, Ledger, Transaction, Verdict
from ottla.verify.sightings import place

GroupPartition = tuple[str, TopicPartition]
_NONE = -1


class Commit(NamedTuple):
    """Its place among the others is some time from `first` to `last`; `is_sure`: it took place.

    One in a transaction has its place when it is sent, and shows from `shows` on. From its sending
    to the transaction's end a stable fetch waits; so whoever asks after `last` hears of it.
    """

    offset: int
    first: int
    last: int
    is_sure: bool
    shows: int
    transaction: Transaction | None = None


class GroupOffsets:
    """`commits` are all there were, `before` what a group had before them, where that is known."""

    def __init__(self, ledger: Ledger, findings: Findings) -> None:
        self._ledger = ledger
        self._findings = findings
        self.commits: dict[GroupPartition, list[Commit]] = {}
        for key, commit in _commits(ledger):
            self.commits.setdefault(key, []).append(commit)
        self.before = self._find_before()

    def examine_all(self) -> None:
        if not self._ledger.has_one_clock:
            return  # then nobody knows what came first
        registers = {key: self._register(key, commits) for key, commits in self.commits.items()}
        nothing = _Register([])
        for fetch in self._ledger.offset_fetches:
            for partition, offset in fetch.offsets:
                register = registers.get((fetch.group, partition), nothing)
                self._check_fetch(fetch, partition, offset, register)
        for key, commits in self.commits.items():
            self._check_forward(key, commits)

    def _find_before(self) -> dict[GroupPartition, int]:
        """By whoever asked first. Without one clock, the lowest that anyone heard."""
        first = {key: min(map(_first, commits)) for key, commits in self.commits.items()}
        found: dict[GroupPartition, int] = {}
        for fetch in self._ledger.offset_fetches:
            for partition, offset in fetch.offsets:
                key = (fetch.group, partition)
                if not self._ledger.has_one_clock:
                    found[key] = min(offset, found.get(key, offset))
                elif fetch.answered < first.get(key, 0):
                    found.setdefault(key, offset)
        return found

    def _register(self, key: GroupPartition, commits: list[Commit]) -> _Register:
        if key not in self.before:
            return _Register(commits)
        before = Commit(self.before[key], -1, -1, is_sure=True, shows=-1)
        return _Register([before, *commits])

    def _check_fetch(
        self, fetch: OffsetsFetched, partition: TopicPartition, offset: int, register: _Register
    ) -> None:
        # A fetch that does not wait for transactions may miss those that have just ended.
        floor = register.floor(fetch.asked if fetch.is_stable else 0)
        # Without any, what the group had before the history may be just that.
        if floor is None or register.allows(offset, floor, until=fetch.answered):
            return
        kind, words, transaction = _fault(offset, floor, register)
        at = "no offset" if offset == _NONE else f"offset {offset}"
        sentence = (
            f"Client {fetch.client} fetched {at} of group {fetch.group} for {partition}; {words}."
        )
        name = None if transaction is None else transaction.name
        found = Finding(kind, sentence, name, fetch.client, partition, offset)
        self._findings.add(found)

    def _check_forward(self, key: GroupPartition, commits: list[Commit]) -> None:
        """Whoever commits in transactions goes on from the last one: that is exactly once."""
        within = [each for each in commits if each.transaction is not None and each.is_sure]
        ended = sorted(within, key=attrgetter("last"))
        furthest: Commit | None = None
        index = 0
        for commit in sorted(within, key=attrgetter("first")):
            while index < len(ended) and ended[index].last < commit.first:
                if furthest is None or ended[index].offset > furthest.offset:
                    furthest = ended[index]
                index += 1
            if furthest is not None and commit.offset < furthest.offset:
                self._tell_backwards(key, commit, furthest)

    def _tell_backwards(self, key: GroupPartition, commit: Commit, furthest: Commit) -> None:
        group, partition = key
        assert commit.transaction is not None
        assert furthest.transaction is not None
        name, client = commit.transaction.name, commit.transaction.client
        sentence = (
            f"Transaction {name} of {client} committed {place(partition, commit.offset)} for group "
            f"{group}, after {furthest.transaction.name} had committed {furthest.offset}."
        )
        backwards = Kind.OFFSETS_BACKWARDS
        self._findings.add(Finding(backwards, sentence, name, client, partition, commit.offset))


class _Register:
    """The commits for one partition of a group, to be asked what may be fetched when."""

    def __init__(self, commits: list[Commit]) -> None:
        self._by_offset: dict[int, list[Commit]] = {}
        for commit in commits:
            self._by_offset.setdefault(commit.offset, []).append(commit)
        done = sorted((each for each in commits if each.is_sure), key=attrgetter("last"))
        self._last = [each.last for each in done]
        # Of all that were done by then, the one that began last: nothing before it may show.
        self._floor = list(accumulate(done, _later))

    def floor(self, moment: int) -> Commit | None:
        index = bisect_left(self._last, moment)
        return self._floor[index - 1] if index else None

    def allows(self, offset: int, floor: Commit, *, until: int) -> bool:
        return any(
            commit.last >= floor.first
            and commit.shows < until
            and (commit.transaction is None or commit.transaction.is_visible is not False)
            for commit in reversed(self._by_offset.get(offset, ()))
        )

    def writers(self, offset: int) -> list[Commit]:
        return self._by_offset.get(offset, [])


def _first(commit: Commit) -> int:
    return commit.first


def _later(one: Commit, other: Commit) -> Commit:
    return other if other.first > one.first else one


def _fault(offset: int, floor: Commit, register: _Register) -> tuple[Kind, str, Transaction | None]:
    """Why it should not have been fetched, and whose offset it is, or should have been."""
    for writer in register.writers(offset):
        if writer.transaction is not None and writer.transaction.is_visible is False:
            words = f"transaction {writer.transaction.name} sent it and did not take place"
            return Kind.TORN_TRANSACTION, words, writer.transaction
    if offset < floor.offset:
        by = "" if floor.transaction is None else f" by transaction {floor.transaction.name}"
        words = f"offset {floor.offset} was committed{by} before"
        if floor.transaction is not None and floor.transaction.verdict is not Verdict.COMMITTED:
            words += ", as the records of that transaction show"
            return Kind.TORN_TRANSACTION, words, floor.transaction
        return Kind.OFFSETS_BACKWARDS, words, floor.transaction
    if register.writers(offset):
        return Kind.DIRTY_READ, "nobody had asked to commit it yet", None
    return Kind.INVENTED, "nobody has committed it", None


def _commits(ledger: Ledger) -> Iterator[tuple[GroupPartition, Commit]]:
    for plain in ledger.offset_commits:
        if plain.outcome is not Outcome.FAILED:
            is_sure = plain.outcome is Outcome.OK
            last = plain.answered if is_sure else NEVER
            for partition, offset in plain.offsets:
                commit = Commit(offset, plain.asked, last, is_sure, plain.asked)
                yield (plain.group, partition), commit
    for transaction in ledger.transactions.values():
        yield from _transactional(transaction)


def _transactional(transaction: Transaction) -> Iterator[tuple[GroupPartition, Commit]]:
    """Of several for one partition the last one counts, unless it is in doubt.

    One that did not take place is here, too: whoever fetches it shall be told which it was.
    """
    shows = NEVER if transaction.commit_asked is None else transaction.commit_asked
    newest: dict[GroupPartition, Commit] = {}
    for sent in transaction.offsets:
        if sent.outcome is Outcome.FAILED:
            continue
        is_sure = sent.outcome is Outcome.OK and transaction.is_visible is True
        last = sent.answered if is_sure else NEVER
        for partition, offset in sent.offsets:
            key = (sent.group, partition)
            if sent.outcome is Outcome.UNKNOWN and key in newest:
                yield key, newest[key]._replace(is_sure=False, last=NEVER)
            newest[key] = Commit(offset, sent.asked, last, is_sure, shows, transaction)
    yield from newest.items()
