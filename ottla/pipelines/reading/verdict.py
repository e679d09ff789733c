"""Which records of a batch go on, and what becomes of the others.

A record counts for the first rule that removes it; a rule that only warns counts all that break it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ottla.pipelines.declaration import Otherwise, Rule
from ottla.pipelines.reading import contract
from ottla.pipelines.reading.decoded import Decoded, Fault


class Removed(NamedTuple):
    """What one rule removed."""

    rule: str
    otherwise: Otherwise  # DROP, DEAD_LETTER or STOP
    indexes: Any  # a numpy array, in order
    errors: list[str]


@dataclass(slots=True)
class Verdict:
    passed: Any  # a numpy array of bool
    removed: list[Removed] = field(default_factory=list)
    warned: dict[str, Any] = field(default_factory=dict)  # by rule, the indexes of its records

    def remove(self, removed: Removed) -> None:
        """Of records that have passed so far."""
        self.passed[removed.indexes] = False
        self.removed.append(removed)


def judge(decoded: Decoded, rules: Sequence[Rule], *, malformed: Otherwise) -> Verdict:
    verdict = Verdict(np.ones(len(decoded.rows), dtype=bool))
    # What cannot be read cannot go on with a warning either.
    unreadable = Otherwise.DROP if malformed is Otherwise.WARN else malformed
    # A row that could not be decoded is null as a whole, and has no null inside.
    for faults in (decoded.faults, contract.nulls(decoded.rows)):
        for name, found in _by_rule(faults).items():
            indexes = np.array([fault.at for fault in found])
            errors = [fault.error for fault in found]
            verdict.remove(Removed(name, unreadable, indexes, errors))
    readable = verdict.passed.copy()
    if readable.any():
        for rule in rules:
            keep(rule, decoded.rows, contract.broken(rule, decoded.rows) & readable, verdict)
    return verdict


def _by_rule(faults: Sequence[Fault]) -> dict[str, list[Fault]]:
    found: dict[str, list[Fault]] = {}
    for fault in faults:
        found.setdefault(fault.rule, []).append(fault)
    return found


def keep(rule: Rule, rows: Any, broken: Any, verdict: Verdict) -> None:
    if rule.otherwise is Otherwise.WARN:
        if broken.any():
            verdict.warned[rule.name] = np.flatnonzero(broken)
        return
    indexes = np.flatnonzero(broken & verdict.passed)
    if len(indexes):
        values = contract.column(rows, rule.column).take(pa.array(indexes)).to_pylist()
        errors = contract.sentences(rule, values)
        verdict.remove(Removed(rule.name, rule.otherwise, indexes, errors))
