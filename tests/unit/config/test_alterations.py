"""Changes are applied to texts, one operation at a time, and nonsense is refused."""

from __future__ import annotations

import pytest

from ottla.config.alterations import Alteration, Operation, altered, replaced
from ottla.config.refusal import INVALID_CONFIG, INVALID_REQUEST, ConfigRefused
from ottla.config.topic import TOPIC_OPTIONS

POLICY = "cleanup.policy"


def apply(*alterations: Alteration, **current: str) -> dict[str, str]:
    texts = {name.replace("_", "."): text for name, text in current.items()}
    return altered(texts, alterations, TOPIC_OPTIONS.get)


def code_of(*alterations: Alteration) -> int:
    with pytest.raises(ConfigRefused) as caught:
        apply(*alterations)
    return caught.value.code


def test_what_is_not_named_stays() -> None:
    assert apply(
        Alteration("segment.bytes", Operation.SET, "100"),
        Alteration("retention.ms", Operation.DELETE),
        Alteration("no.such.option", Operation.DELETE),
        retention_ms="5",
        flush_ms="6",
    ) == {"flush.ms": "6", "segment.bytes": "100"}


def test_a_list_grows_from_its_default() -> None:
    assert apply(Alteration(POLICY, Operation.APPEND, "compact")) == {POLICY: "delete,compact"}


def test_nothing_is_appended_twice() -> None:
    current = {"cleanup_policy": "delete,compact"}
    assert apply(Alteration(POLICY, Operation.APPEND, "compact"), **current) == {
        POLICY: "delete,compact"
    }


def test_a_list_shrinks_to_nothing() -> None:
    current = {"cleanup_policy": "delete,compact"}
    assert apply(Alteration(POLICY, Operation.SUBTRACT, "delete"), **current) == {POLICY: "compact"}
    assert apply(Alteration(POLICY, Operation.SUBTRACT, "delete, compact"), **current) == {
        POLICY: ""
    }


@pytest.mark.parametrize("operation", [Operation.APPEND, Operation.SUBTRACT])
@pytest.mark.parametrize("name", ["segment.bytes", "no.such.option"])
def test_only_lists_grow_and_shrink(operation: Operation, name: str) -> None:
    assert code_of(Alteration(name, operation, "1")) == INVALID_CONFIG


@pytest.mark.parametrize("operation", [Operation.SET, Operation.APPEND, Operation.SUBTRACT])
def test_null_is_not_a_value(operation: Operation) -> None:
    assert code_of(Alteration(POLICY, operation, None)) == INVALID_REQUEST


def test_a_name_comes_once() -> None:
    twice = [Alteration(POLICY, Operation.SET, "delete"), Alteration(POLICY, Operation.DELETE)]
    assert code_of(*twice) == INVALID_REQUEST


def test_an_operation_that_does_not_exist() -> None:
    assert code_of(Alteration(POLICY, 9, "delete")) == INVALID_REQUEST


def test_a_replacement_is_all_there_is() -> None:
    assert replaced([("a", "1"), ("b", "")]) == {"a": "1", "b": ""}
    assert replaced([]) == {}


@pytest.mark.parametrize("pairs", [[("a", None)], [("a", "1"), ("a", "2")]])
def test_a_replacement_has_each_name_once_with_a_value(pairs: list[tuple[str, str | None]]) -> None:
    with pytest.raises(ConfigRefused) as caught:
        replaced(pairs)
    assert caught.value.code == INVALID_REQUEST
