"""What may be set for whom, and who matches a question. Most is compared with Kafka elsewhere."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.security.quota_changes import (
    Entity,
    Filter,
    change,
    entity_at,
    java_double,
    path_of,
    quotas_in,
)

ALICE: Entity = {"user": "alice"}
ADDRESS: Entity = {"ip": "10.0.0.1"}


@pytest.mark.parametrize(
    ("entity", "path"),
    [
        ({"user": "a b"}, "users/a%20b"),
        ({"user": None}, "users/<default>"),
        ({"client-id": "a/b"}, "clients/a%2Fb"),
        ({"client-id": None, "user": "a"}, "users/a/clients/<default>"),
        ({"user": None, "client-id": "c"}, "users/<default>/clients/c"),
        ({"ip": "::1"}, "ips/::1"),
        ({"ip": None}, "ips/<default>"),
    ],
)
def test_each_entity_has_its_node(entity: Entity, path: str) -> None:
    assert path_of(entity) == path
    assert entity_at(path) == entity


def test_other_nodes_are_nobodys() -> None:
    assert entity_at("topics/a") is None


@pytest.mark.parametrize(
    "entity",
    [{}, {"user": ""}, {"group": "g"}, {"ip": "nowhere"}, {"ip": "10.0.0.1", "user": "a"}],
)
def test_entities_that_cannot_be_are_refused(entity: Entity) -> None:
    with pytest.raises(KafkaError) as refused:
        path_of(entity)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_a_change_leaves_the_rest_alone() -> None:
    before = {"producer_byte_rate": "1", "SCRAM-SHA-256": "x", "request_percentage": "5.0"}
    changes = [("producer_byte_rate", 2.0), ("request_percentage", None), ("unheard_of", None)]
    assert change(ALICE, before, changes) == {"producer_byte_rate": "2", "SCRAM-SHA-256": "x"}


@pytest.mark.parametrize(
    ("entity", "key", "value"),
    [
        (ALICE, "nonsense", 1.0),
        (ALICE, "producer_byte_rate", 1.5),
        (ALICE, "producer_byte_rate", 1e19),
        (ALICE, "request_percentage", float("nan")),
        (ALICE, "connection_creation_rate", 1.0),
        (ADDRESS, "producer_byte_rate", 1.0),
        (ADDRESS, "connection_creation_rate", -1.0),
        (ADDRESS, "connection_creation_rate", 2.0**31),
    ],
)
def test_values_that_cannot_be_are_refused_by_name(entity: Entity, key: str, value: float) -> None:
    with pytest.raises(KafkaError, match=key) as refused:
        change(entity, {}, [(key, value)])
    assert refused.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (50.0, "50.0"), (0.001, "0.001"), (9999999.5, "9999999.5"), (1e7, "1.0E7"),
        (123456789.0, "1.23456789E8"), (0.00025, "2.5E-4"), (-1e22, "-1.0E22"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_java_does(value: float, text: str) -> None:
    assert java_double(value) == text


def test_only_quotas_are_told() -> None:
    values = {"SCRAM-SHA-256": "x", "producer_byte_rate": "7", "consumer_byte_rate": "nonsense"}
    assert list(quotas_in(ALICE, values)) == [("producer_byte_rate", 7.0)]


def test_without_components_everybody_matches_unless_strictly_nobody() -> None:
    everybody: list[Entity] = [ALICE, ADDRESS, {"user": None, "client-id": "c"}]
    assert all(Filter([], strict=False).matches(each) for each in everybody)
    assert not any(Filter([], strict=True).matches(each) for each in everybody)


def test_a_name_is_not_the_default() -> None:
    exact = Filter([("user", 0, "<default>")], strict=False)
    assert not exact.matches({"user": None})
    assert Filter([("user", 1, None)], strict=False).matches({"user": None})
    assert Filter([("user", 2, None)], strict=True).matches({"user": None})


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([("", 2, None)], ErrorCode.INVALID_REQUEST),
        ([("group", 2, None)], ErrorCode.UNSUPPORTED_VERSION),
        ([("user", 3, None)], ErrorCode.INVALID_REQUEST),
        ([("user", 0, None)], ErrorCode.INVALID_REQUEST),
        ([("user", 2, None), ("user", 2, None)], ErrorCode.INVALID_REQUEST),
        ([("user", 2, None), ("ip", 2, None)], ErrorCode.INVALID_REQUEST),
    ],
)
def test_questions_that_cannot_be_are_refused(
    components: list[tuple[str, int, str | None]], code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refused:
        Filter(components, strict=False)
    assert refused.value.code is code
