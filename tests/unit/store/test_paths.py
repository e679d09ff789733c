"""Names of entities in paths, and what sequential nodes are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.store import paths

ENTITIES = [
    ({"topics": "orders"}, "topics/orders"),
    ({"brokers": None}, "brokers/<default>"),
    ({"ips": "::1"}, "ips/::1"),
    ({"users": "CN=a b*+~/é"}, "users/CN%3Da%20b%2A%2B%7E%2F%C3%A9"),
    ({"users": None, "clients": "app-1"}, "users/<default>/clients/app-1"),
    ({"users": "<default>"}, "users/%3Cdefault%3E"),
]


@pytest.mark.parametrize(("names", "path"), ENTITIES)
def test_an_entity_has_one_path(names: dict[str, str | None], path: str) -> None:
    assert paths.entity_path(names) == path
    assert paths.entity_names(path) == names


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_comes_back(name: str) -> None:
    sanitized = paths.sanitize(name)
    assert paths.desanitize(sanitized) == name
    assert "/" not in sanitized


def test_the_number_of_a_sequential_node_is_at_its_end() -> None:
    assert paths.sequence_number("isr_change_0000000012") == 12
    assert paths.sequence_number(f"{paths.CONFIG_CHANGE}0000000000") == 0


def test_consumers_have_offsets_by_partition() -> None:
    found = paths.consumer_offset(group="g", topic_name="t", index=3)
    assert found == "/consumers/g/offsets/t/3"
    assert paths.delete_topic("t") == "/admin/delete_topics/t"
