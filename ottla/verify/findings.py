"""What can be wrong with a history, and what was found: sentences, counted by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from ottla.verify.history import TopicPartition

# Of each kind; one fault in a broker can show in every record.
MOST_TOLD = 100


class Kind(StrEnum):
    LOST_WRITE = "lost write"  # acknowledged, and not there
    DUPLICATE = "duplicate"  # one record in two places
    INVENTED = "invented record"  # nobody sent it, or it had surely failed
    CHANGED = "changed record"  # one place held two records
    ABORTED_READ = "aborted read"
    DIRTY_READ = "dirty read"  # of a transaction that nobody had asked to commit
    TORN_TRANSACTION = "torn transaction"  # some of it visible, some not
    REORDERED = "reordered"
    MISSED_READ = "missed read"  # a consumer passed by a record
    OFFSETS_BACKWARDS = "offsets backwards"
    NOT_TRANSFORMED = "not transformed"
    TRANSFORMED_TWICE = "transformed twice"
    ZOMBIE = "zombie"  # fenced, and yet it succeeded
    CONTRADICTION = "contradiction"  # both the commit and the abort succeeded


class Finding(NamedTuple):
    """The sentence says it all; the rest is for programs."""

    kind: Kind
    sentence: str
    transaction: str | None = None
    client: str | None = None
    partition: TopicPartition | None = None
    offset: int | None = None


class Statistics(NamedTuple):
    events: int = 0
    committed: int = 0
    aborted: int = 0
    unknown_visible: int = 0  # nobody heard how these ended: they proved to be whole,
    unknown_absent: int = 0  # or not there at all
    records: int = 0
    reads: int = 0
    transformed: int = 0


class Report(NamedTuple):
    """`findings` are at most the first MOST_TOLD of each kind; `counts` has all."""

    findings: tuple[Finding, ...]
    counts: Mapping[Kind, int]
    statistics: Statistics

    @property
    def is_clean(self) -> bool:
        return not self.counts


class Findings:
    """Collects them."""

    def __init__(self) -> None:
        self.told: list[Finding] = []
        self.counts: Counter[Kind] = Counter()

    def add(self, finding: Finding) -> None:
        self.counts[finding.kind] += 1
        if self.counts[finding.kind] <= MOST_TOLD:
            self.told.append(finding)

    def report(self, statistics: Statistics) -> Report:
        return Report(tuple(self.told), dict(self.counts), statistics)
