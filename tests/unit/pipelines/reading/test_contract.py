"""Rules of a contract on rows in Arrow."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from ottla.pipelines.declaration import Rule
from ottla.pipelines.declare import between, matches, not_null, one_of, unique
from ottla.pipelines.reading.contract import BrokenRule, broken, mistakes, nulls, sentences

DAY = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
NAN = float("nan")


def breaks(rule: Rule, *values: Any, kind: Any = None) -> list[bool]:
    rows = pa.StructArray.from_arrays([pa.array(values, type=kind)], names=[rule.column])
    found: list[bool] = broken(rule, rows).tolist()
    return found


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (not_null("a"), 1, None),
        (one_of("a", "x", "y"), "x", "z"),
        (one_of("a", 1, 2), 2, 3),
        (between("a", 1, 5), 5, 6),
        (between("a", 1), 1, 0),
        (between("a", high=1.5), 1, 2),
        (between("a", 0, 1), 0.5, NAN),
        (between("a", "2026-01-01"), DAY, DAY - datetime.timedelta(days=2)),
        (between("a", high="2026-01-02"), DAY.date(), datetime.date(2026, 1, 3)),
        (between("a", "b", "d"), "c", "e"),
        (between("a", Decimal("0.5"), 2), Decimal("0.50"), Decimal("0.49")),
        (matches("a", "a+|b"), "aa", "ab"),
        (matches("a", "a$"), "a", "a\n"),
    ],
    ids=str,
)
def test_a_rule_tells_good_from_bad(rule: Rule, good: Any, bad: Any) -> None:
    kind = pa.timestamp("us", tz="UTC") if good is DAY else None
    assert breaks(rule, good, bad, kind=kind) == [False, True]


@pytest.mark.parametrize("rule", [one_of("a", 1), between("a", 1, 2)], ids=str)
def test_null_breaks_no_rule_about_values(rule: Rule) -> None:
    assert breaks(rule, None, 1) == [False, False]


def test_a_rule_looks_into_structures() -> None:
    rows = pa.array([{"place": {"city": "Bern"}}, {"place": None}, {"place": {"city": "Bonn"}}])
    assert broken(one_of("place.city", "Bern"), rows).tolist() == [False, False, True]
    assert broken(not_null("place.city"), rows).tolist() == [False, True, False]


def test_all_mistakes_of_a_contract_show_without_a_row() -> None:
    kind = pa.struct([("a", pa.int64()), ("s", pa.string())])
    rules = [
        between("a", 1), not_null("b"), matches("a", "x"), matches("s", "("), one_of("a", "x"),
        unique("s"), unique("t"),
    ]  # fmt: skip
    found = mistakes(rules, kind)
    assert [text.split(":")[0] for text in found] == [
        "not_null(b)", "matches(a)", "matches(s)", "one_of(a)", "unique(t)",
    ]  # fmt: skip
    assert found[0] == "not_null(b): there is no column 'b'"
    assert "a is of type int64" in found[1]


def test_a_rule_that_cannot_be_asked_is_an_error_not_a_verdict() -> None:
    with pytest.raises(BrokenRule, match="no column 'b'"):
        broken(not_null("b"), pa.array([{"a": 1}]))


@pytest.mark.parametrize(
    ("rule", "value", "text"),
    [
        (not_null("a"), None, "a is null"),
        (one_of("a", "x", "y"), "z", "a is 'z', none of 'x', 'y'"),
        (between("a", 1, 5), 6, "a is 6, not at least 1 and at most 5"),
        (between("a", high=5), 6, "a is 6, not at most 5"),
        (matches("a", "b"), "c", "a is 'c', which does not match b"),
        (unique("a"), "c", "a is 'c', which the batch has already"),
    ],
)
def test_a_breach_is_told_in_a_sentence(rule: Rule, value: Any, text: str) -> None:
    assert sentences(rule, [value]) == [text]


def strict(name: str, kind: Any) -> Any:
    return pa.field(name, kind, nullable=False)


def test_a_null_is_found_wherever_the_schema_allows_none() -> None:
    point = pa.struct([strict("x", pa.int64()), ("y", pa.int64())])
    kind = pa.struct(
        [
            strict("id", pa.string()),
            ("point", point),
            ("points", pa.list_(point)),
            ("names", pa.list_(strict("element", pa.string()))),
            ("counts", pa.map_(pa.string(), strict("value", pa.int64()))),
        ]
    )
    rows = [
        {"id": "a", "point": None, "points": None, "names": None, "counts": None},
        {"id": None, "point": {"x": None}},
        None,
        {"id": "b", "point": {"x": None, "y": 1}},
        {"id": "c", "points": [{"x": 1}, None, {"x": None}]},
        {"id": "d", "names": ["n"]},
        {"id": "e", "names": ["n", None]},
        {"id": "f", "counts": {"k": 1}},
        {"id": "g", "counts": {"j": 1, "k": None}},
    ]
    found = {fault.at: fault.error.split()[0] for fault in nulls(pa.array(rows, type=kind))}
    assert found == {1: "id", 3: "point.x", 4: "points[].x", 6: "names[]", 8: "counts[]"}
