"""Kafka's own tools put to Ottla: ACLs, delegation tokens, SCRAM users, reassignments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.handlers import HANDLERS
from ottla.protocol.apis.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.apis.describe_client_quotas import DescribeClientQuotasRequest
from ottla.protocol.apis.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
)
from tests.kafka.peer import KafkaFailed, run_tool
from tests.targets.connection import ask
from tests.targets.ottla_program import OttlaProgram

ACLS = "kafka.admin.AclCommand"
CONFIGS = "kafka.admin.ConfigCommand"
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
TOKENS = "org.apache.kafka.tools.DelegationTokenCommand"
ALICE = ("--entity-type", "users", "--entity-name", "alice")


class Tools:
    """Runs them against one broker; what they print comes back as lines."""

    def __init__(self, classpath: str, bootstrap: str) -> None:
        self._classpath = classpath
        self.bootstrap = bootstrap

    def __call__(self, main_class: str, *arguments: str) -> list[str]:
        options = ("--bootstrap-server", self.bootstrap, *arguments)
        return run_tool(self._classpath, main_class, *options).lines

    def credentials(self) -> dict[int, int]:
        """Alice's, by the numbers of the mechanisms: how many iterations."""
        request = DescribeUserScramCredentialsRequest(users=None)
        results = ask(self.bootstrap, request, 0).results
        assert [each.user for each in results] in ([], ["alice"])
        return {info.mechanism: info.iterations for r in results for info in r.credential_infos}


@pytest.fixture(scope="module")
def tools(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    with OttlaProgram(tmp_path_factory.mktemp("tools"), {"broker.id": "0"}) as program:
        yield Tools(classpath, program.bootstrap)


def test_kafka_acls_says_that_there_is_no_authorizer(tools: Tools) -> None:
    with pytest.raises(KafkaFailed, match=r"SecurityDisabledException: No authorizer"):
        tools(ACLS, "--list")


def test_kafka_delegation_tokens_says_that_nobody_is_authenticated(
    tools: Tools, tmp_path: Path
) -> None:
    (tmp_path / "empty.properties").touch()
    options = ("--describe", "--command-config", str(tmp_path / "empty.properties"))
    with pytest.raises(KafkaFailed, match=r"UnsupportedByAuthenticationException"):
        tools(TOKENS, *options)


def test_kafka_configs_sets_and_deletes_credentials(tools: Tools) -> None:
    both = "SCRAM-SHA-256=[iterations=8192,password=x],SCRAM-SHA-512=[password=y]"
    assert tools(CONFIGS, "--alter", "--add-config", both, *ALICE) == [
        "Completed updating config for user alice."
    ]
    assert tools.credentials() == {1: 8192, 2: 4096}
    tools(CONFIGS, "--alter", "--delete-config", "SCRAM-SHA-256", *ALICE)
    assert tools.credentials() == {2: 4096}
    too_many = "SCRAM-SHA-256=[iterations=99999,password=x]"
    with pytest.raises(KafkaFailed, match="99999 iterations; expected 4096 to 16384"):
        tools(CONFIGS, "--alter", "--add-config", too_many, *ALICE)


@pytest.mark.skipif(
    DescribeClientQuotasRequest.api_key not in HANDLERS, reason="the tool asks for quotas, too"
)
def test_kafka_configs_describes_credentials(tools: Tools) -> None:
    tools(CONFIGS, "--alter", "--add-config", "SCRAM-SHA-512=[password=y]", *ALICE)
    assert "SCRAM-SHA-512=iterations=4096" in tools(CONFIGS, "--describe", *ALICE)[0]


def test_kafka_reassign_partitions_finds_all_where_it_should_be(
    tools: Tools, tmp_path: Path
) -> None:
    topic = CreatableTopic(
        name="orders", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    ask(tools.bootstrap, CreateTopicsRequest(topics=[topic]), 5)
    file = tmp_path / "plan.json"
    partitions = [{"topic": "orders", "partition": 0, "replicas": [0]}]
    file.write_text(json.dumps({"version": 1, "partitions": partitions}), encoding="utf-8")
    executed = tools(REASSIGN, "--execute", "--reassignment-json-file", str(file))
    assert executed[-1] == "Successfully started partition reassignment for orders-0"
    assert tools(REASSIGN, "--list") == ["No partition reassignments found."]
    verified = tools(REASSIGN, "--verify", "--reassignment-json-file", str(file))
    assert "Reassignment of partition orders-0 is completed." in verified
