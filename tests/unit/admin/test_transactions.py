"""Transactional ids are listed from all brokers, and described by their coordinator."""

from __future__ import annotations

import pytest

from ottla.admin import transactions
from ottla.admin.transactions import UnknownTransaction
from ottla.network.client import UnsupportedVersion
from ottla.protocol.errors import ErrorCode, KafkaError
from tests.unit.admin.cluster import ScriptedCluster
from tests.unit.admin.transactions import FIRST, SECOND, ScriptedTransactions, known


def scripted() -> ScriptedTransactions:
    script = ScriptedTransactions()
    idle = known("audit", producer_id=7, state="CompleteCommit", started_ms=None)
    script.known = [known("etl-1", FIRST, SECOND), idle]
    return script


def test_ids_of_all_brokers_are_listed_with_what_is_open_of_them() -> None:
    script = scripted()
    found = script.cluster.run(transactions.list_transactions)
    assert found == [script.known[1], script.known[0]]
    assert script.cluster.kinds(0) == ["ListTransactions"]


def test_they_are_listed_by_state_and_by_producer() -> None:
    script = scripted()
    (ongoing,) = script.cluster.run(
        lambda cluster: transactions.list_transactions(cluster, states=["Ongoing"])
    )
    (of_producer,) = script.cluster.run(
        lambda cluster: transactions.list_transactions(cluster, producer_ids=[7])
    )
    assert (ongoing.transactional_id, of_producer.transactional_id) == ("etl-1", "audit")


def test_a_coordinator_that_reads_its_log_is_waited_for() -> None:
    script = scripted()
    script.unloaded = 3
    assert len(script.cluster.run(transactions.list_transactions)) == 2
    script.unloaded = 1_000
    with pytest.raises(KafkaError) as refused:
        script.cluster.run(transactions.list_transactions)
    assert refused.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_an_id_is_described_by_its_coordinator() -> None:
    script = scripted()
    found = script.cluster.run(lambda cluster: transactions.describe(cluster, "etl-1"))
    assert found == script.known[0]


def test_a_mistyped_id_is_told_the_nearest() -> None:
    with pytest.raises(UnknownTransaction, match=r"there is no transactional id 'etl1'. Did you "):
        scripted().cluster.run(lambda cluster: transactions.describe(cluster, "etl1"))


def test_a_broker_that_knows_no_transactions_is_told_as_such() -> None:
    old = ScriptedCluster(versions={3: (0, 12), 10: (0, 3)})
    with pytest.raises(UnsupportedVersion, match=r"tells nothing of transactions, as Kafka does"):
        old.run(transactions.list_transactions)
