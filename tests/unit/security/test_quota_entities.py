"""Whose limit holds, and how their names are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.security.quota_entities import (
    DEFAULT,
    Bounds,
    ClientEntity,
    desanitize,
    entity_of,
    sanitize,
)

U, C = "alice", "reader"
# From the most special to the most general, with those who share the limit.
ORDER = [
    (ClientEntity(U, C), ClientEntity(U, C)),
    (ClientEntity(U, DEFAULT), ClientEntity(U, C)),
    (ClientEntity(U), ClientEntity(U)),
    (ClientEntity(DEFAULT, C), ClientEntity(U, C)),
    (ClientEntity(DEFAULT, DEFAULT), ClientEntity(U, C)),
    (ClientEntity(DEFAULT), ClientEntity(U)),
    (ClientEntity(client=C), ClientEntity(client=C)),
    (ClientEntity(client=DEFAULT), ClientEntity(client=C)),
]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_most_special_limit_holds(first: int) -> None:
    bounds = Bounds()
    for rank, (entity, _) in enumerate(ORDER[first:], first):
        bounds.set(entity, rank)
    sharers = bounds.sharers(U, C)
    assert sharers == ORDER[first][1]
    source = bounds.source(sharers)
    assert source == ORDER[first][0]
    assert bounds[source] == first


@pytest.mark.parametrize("rank", range(len(ORDER)))
def test_a_limit_for_others_does_not_hold(rank: int) -> None:
    entity = ORDER[rank][0]
    bounds = Bounds()
    bounds.set(ClientEntity(*(part and part + "x" for part in entity)), 1)
    assert bounds.source(bounds.sharers(U, C)) is None


def test_a_client_without_an_id_has_the_limits_of_its_user_only() -> None:
    bounds = Bounds()
    bounds.set(ClientEntity(client=DEFAULT), 1)
    assert bounds.source(bounds.sharers(U, "")) is None
    bounds.set(ClientEntity(DEFAULT), 2)
    assert bounds.source(bounds.sharers(U, "")) == ClientEntity(DEFAULT)


def test_a_removed_limit_holds_no_more() -> None:
    bounds = Bounds()
    bounds.set(ClientEntity(U), 1)
    assert bounds
    bounds.set(ClientEntity(U), None)
    assert not bounds
    assert bounds.source(bounds.sharers(U, C)) is None


def test_nodes_are_read() -> None:
    assert entity_of("clients", "a%2Fb") == ClientEntity(client="a%2Fb")
    assert entity_of("users", "a") == ClientEntity("a")
    assert entity_of("users", "a/clients/<default>") == ClientEntity("a", DEFAULT)


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("CN=A B,O=*", "CN%3DA%20B%2CO%3D%2A"),
        ("a-b_c.d~e", "a-b_c.d%7Ee"),
        ("é/+%", "%C3%A9%2F%2B%25"),
        ("<default>", "%3Cdefault%3E"),
    ],
)
def test_names_are_written_as_kafka_does(name: str, node: str) -> None:
    assert (sanitize(name), desanitize(node)) == (node, name)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_comes_back(name: str) -> None:
    assert desanitize(sanitize(name)) == name
