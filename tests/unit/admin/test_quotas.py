"""Quotas: how they are listed, which one holds, and what is asked of a broker."""

from __future__ import annotations

import pytest

from ottla.admin.quotas import DEFAULT, Entity, Quota, alter_quotas, effective, list_quotas
from ottla.protocol.apis import describe_client_quotas as describing
from ottla.protocol.apis.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntryResult,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

RATE = "producer_byte_rate"
ORDER = [
    Entity("alice", "reader"),
    Entity("alice", DEFAULT),
    Entity("alice"),
    Entity(DEFAULT, "reader"),
    Entity(DEFAULT, DEFAULT),
    Entity(DEFAULT),
    Entity(client_id="reader"),
    Entity(client_id=DEFAULT),
]


def entry(entity: dict[str, str | None], **values: float) -> describing.EntryData:
    return describing.EntryData(
        entity=[
            describing.EntityData(entity_type=kind, entity_name=name)
            for kind, name in entity.items()
        ],
        values=[describing.ValueData(key=key, value=value) for key, value in values.items()],
    )


def test_quotas_are_listed_in_order() -> None:
    def answer(_: int, message: Message) -> Message:
        assert isinstance(message, describing.DescribeClientQuotasRequest)
        assert (message.components, message.strict) == ([], False)
        entries = [
            entry({"ip": "10.0.0.1"}, connection_creation_rate=3),
            entry({"client-id": None}, consumer_byte_rate=2),
            entry({"user": "bob"}, request_percentage=5, producer_byte_rate=1),
            entry({"client-id": "reader", "user": None}, producer_byte_rate=4),
        ]
        return describing.DescribeClientQuotasResponse(error_message="", entries=entries)

    assert ScriptedCluster(answer).run(list_quotas) == [
        Quota(Entity(DEFAULT, "reader"), RATE, 4),
        Quota(Entity("bob"), RATE, 1),
        Quota(Entity("bob"), "request_percentage", 5),
        Quota(Entity(client_id=DEFAULT), "consumer_byte_rate", 2),
        Quota(Entity(ip="10.0.0.1"), "connection_creation_rate", 3),
    ]


def test_a_refused_question_is_an_error() -> None:
    refused = describing.DescribeClientQuotasResponse(
        error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, error_message=None, entries=None
    )
    with pytest.raises(KafkaError) as raised:
        ScriptedCluster(lambda *_: refused).run(list_quotas)
    assert raised.value.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_most_special_quota_holds(first: int) -> None:
    quotas = [Quota(entity, RATE, rank) for rank, entity in enumerate(ORDER)][first:]
    assert effective(quotas[::-1], ORDER[0]) == [quotas[0]]


def test_of_each_kind_one_holds() -> None:
    quotas = [
        Quota(Entity("alice"), RATE, 1),
        Quota(Entity(DEFAULT), RATE, 2),
        Quota(Entity(DEFAULT), "request_percentage", 3),
        Quota(Entity("bob"), "request_percentage", 4),
        Quota(Entity(ip=DEFAULT), "connection_creation_rate", 5),
    ]
    assert effective(quotas, Entity("alice")) == [quotas[0], quotas[2]]
    assert effective(quotas, Entity(ip="10.0.0.1")) == [quotas[4]]
    assert effective(quotas, Entity(client_id="reader")) == []


def test_a_change_names_the_default_by_null_and_removes_what_is_none() -> None:
    done = AlterClientQuotasResponse(entries=[EntryResult(error_message=None, entity=[])])
    scripted = ScriptedCluster(lambda *_: done)
    entity = Entity("alice", DEFAULT)
    changes = {RATE: 5.0, "request_percentage": None}
    scripted.run(lambda cluster: alter_quotas(cluster, entity, changes, validate_only=True))
    (asked,) = [m for _, m in scripted.asked if isinstance(m, AlterClientQuotasRequest)]
    (altered,) = asked.entries
    assert asked.validate_only
    named = [(each.entity_type, each.entity_name) for each in altered.entity]
    assert named == [("user", "alice"), ("client-id", None)]
    ops = [(op.key, op.value, op.remove) for op in altered.ops]
    assert ops == [(RATE, 5.0, False), ("request_percentage", 0.0, True)]


def test_a_refused_change_is_an_error_with_the_brokers_words() -> None:
    refused = EntryResult(
        error_code=ErrorCode.INVALID_REQUEST, error_message="no such key", entity=[]
    )
    answer = AlterClientQuotasResponse(entries=[refused])
    scripted = ScriptedCluster(lambda *_: answer)
    with pytest.raises(KafkaError, match="no such key"):
        scripted.run(lambda cluster: alter_quotas(cluster, Entity("a"), {"x": 1}))
