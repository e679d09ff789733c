"""The rules of a contract, on rows in Arrow.

A rule about a value says nothing of null: that is `not_null`'s, or the schema's, to say.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ottla.pipelines.declaration import Rule
from ottla.pipelines.reading.decoded import Fault, not_null

UNIQUE = "unique"
_LONGEST_VALUE = 80  # of what a sentence shows

Mask = Any  # a numpy array of bool, as long as the rows


class BrokenRule(Exception):
    """The rule cannot be kept or broken: no such column, or not of that type."""


def column(rows: Any, path: str) -> Any:
    """`user_id`, or `place.city` inside of a structure."""
    kind = rows.type
    names = [path] if kind.get_field_index(path) >= 0 else path.split(".")
    for name in names:
        if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
            raise BrokenRule(f"there is no column {path!r}")
        kind = kind.field(name).type
    return pc.struct_field(rows, names)


def broken(rule: Rule, rows: Any) -> Mask:
    """Which rows break it."""
    values = column(rows, rule.column)
    try:
        mask = _BREACHES[rule.kind](values, *rule.arguments)
    except (pa.ArrowException, TypeError, ValueError) as cause:
        raise BrokenRule(f"{rule.column} is of type {values.type}: {cause}") from cause
    return pc.fill_null(mask, False).to_numpy(zero_copy_only=False)


def mistakes(rules: Iterable[Rule], kind: Any) -> list[str]:
    """Of a contract about rows of this Arrow type, as far as they show without a row."""
    nothing = pa.array([None], type=kind)  # for no row at all no pattern would be compiled
    found = []
    for rule in rules:
        try:
            if rule.kind == UNIQUE:
                column(nothing, rule.column)
            else:
                broken(rule, nothing)
        except BrokenRule as cause:
            found.append(f"{rule.name}: {cause}")
    return found


def _null(values: Any) -> Any:
    return pc.is_null(values)


def _not_one_of(values: Any, *allowed: Any) -> Any:
    known = pc.is_in(values, value_set=pa.array(allowed, type=values.type))
    return pc.and_(pc.invert(known), pc.is_valid(values))


def _not_between(values: Any, low: Any, high: Any) -> Any:
    """By asking what is within, so that NaN is not."""
    within = pc.is_valid(values)
    if low is not None:
        within = pc.and_(within, pc.greater_equal(values, _end(low, values.type)))
    if high is not None:
        within = pc.and_(within, pc.less_equal(values, _end(high, values.type)))
    return pc.and_(pc.invert(within), pc.is_valid(values))


def _end(value: Any, kind: Any) -> Any:
    """A number may be of another kind than its column; a time may be written as text."""
    if isinstance(value, str) and pa.types.is_temporal(kind):
        time = datetime.datetime.fromisoformat(value)
        value = time if time.tzinfo or kind == pa.date32() else time.replace(tzinfo=datetime.UTC)
    is_number = isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool)
    return pa.scalar(value) if is_number else pa.scalar(value, type=kind)


def _not_matching(values: Any, pattern: str) -> Any:
    return pc.invert(pc.match_substring_regex(values, rf"\A(?:{pattern})\z"))


_BREACHES: dict[str, Callable[..., Any]] = {
    "not_null": _null,
    "one_of": _not_one_of,
    "between": _not_between,
    "matches": _not_matching,
}


def sentences(rule: Rule, values: Iterable[Any]) -> list[str]:
    """One for each value that breaks the rule."""
    if rule.kind == "not_null":
        return [f"{rule.column} is null" for _ in values]
    begin, end = f"{rule.column} is ", f", {_wanted(rule)}"
    return [begin + repr(value)[:_LONGEST_VALUE] + end for value in values]


def _wanted(rule: Rule) -> str:
    match rule.kind, rule.arguments:
        case "one_of", allowed:
            return f"none of {', '.join(map(repr, allowed)):.200}"
        case "between", (low, high):
            ends = [("at least", low), ("at most", high)]
            return "not " + " and ".join(f"{word} {end}" for word, end in ends if end is not None)
        case "matches", (pattern,):
            return f"which does not match {pattern:.200}"
    return "which the batch has already"


def nulls(rows: Any) -> list[Fault]:
    """Rows with a null where the schema allows none, each with the first of them."""
    found: dict[int, Fault] = {}
    for row, path in _nulls(rows, pa.field("", rows.type), path="", owners=None, within=None):
        found.setdefault(row, not_null(row, path))
    return sorted(found.values())


def _nulls(
    array: Any, field: Any, *, path: str, owners: Any, within: Any
) -> Iterator[tuple[int, str]]:
    """`owners`: the row that each element is in, if it is not one. `within`: who has a parent."""
    if array.null_count and not field.nullable:
        missing = pc.is_null(array) if within is None else pc.and_(pc.is_null(array), within)
        for at in np.flatnonzero(missing.to_numpy(zero_copy_only=False)):
            yield int(at if owners is None else owners[at]), path
    if pa.types.is_struct(field.type):
        valid = pc.is_valid(array) if array.null_count else None
        for index, inner in enumerate(field.type):
            name = f"{path}.{inner.name}" if path else inner.name
            yield from _nulls(array.field(index), inner, path=name, owners=owners, within=valid)
    elif pa.types.is_map(field.type):
        lists = pa.ListArray.from_arrays(array.offsets, array.items)
        yield from _item_nulls(lists, field.type.item_field, path=path, owners=owners)
    elif pa.types.is_list(field.type):
        yield from _item_nulls(array, field.type.value_field, path=path, owners=owners)


def _item_nulls(lists: Any, field: Any, *, path: str, owners: Any) -> Iterator[tuple[int, str]]:
    if field.nullable and not pa.types.is_nested(field.type):
        return
    holders = pc.list_parent_indices(lists).to_numpy()
    inner = holders if owners is None else owners[holders]
    items = pc.list_flatten(lists)
    yield from _nulls(items, field, path=f"{path}[]", owners=inner, within=None)
