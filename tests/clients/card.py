"""The conformance card: client by feature, and Kafka's tools, with what came of their tests."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from tests.clients import go_client, node_client
from tests.clients.groups import features as group_features
from tests.clients.groups.roster import ROSTER as GROUP_ROSTER
from tests.clients.transactions import features as transaction_features
from tests.clients.transactions.roster import ROSTER as TRANSACTION_ROSTER
from tests.kafka import jars

CLIENTS = [entry.name for entry in GROUP_ROSTER]
TOOLS = "Kafka's tools"
# The tests that are no scenarios of groups, and what each proves.
_FEATURES = {
    "test_records_come_back_as_they_were_sent": "produce and consume, each codec",
    "test_everyone_reads_what_one_wrote": "what it wrote, all others read",
    "test_big_records_pass": "records of 900 kB",
    "test_a_record_may_be_as_large_as_the_topic_allows": "max.message.bytes",
    "test_each_partition_has_its_own_records": "many partitions",
    "test_reading_begins_where_it_was_asked_to": "reading from an offset",
    "test_an_idempotent_producer_leaves_no_gaps": "idempotent producer",
    "test_fewer_acks_write_the_same": "acks 0 and 1",
    "test_the_end_is_one_past_the_last": "offsets: earliest and latest",
    "test_a_time_leads_to_the_first_record_since": "offsets by time",
    "test_deleted_records_move_the_beginning": "delete records",
    "test_a_topic_is_created_and_deleted": "topics created and deleted",
    "test_a_topic_s_configuration_is_read_and_changed": "topic configurations",
    "test_a_topic_grows": "partitions added",
}
_KCAT = {
    "test_kcat_writes": "produce and consume, each codec",
    "test_kcat_reads": "reading from an offset",
}
_TOOLS = {
    "test_kafka_topics": "kafka-topics: create, list, describe, alter, delete",
    "test_kafka_configs": "kafka-configs: topics and brokers",
    "test_kafka_get_offsets": "kafka-get-offsets: latest, earliest, by time, max-timestamp",
    "test_kafka_delete_records": "kafka-delete-records",
    "test_kafka_log_dirs": "kafka-log-dirs",
    "test_kafka_broker_api_versions": "kafka-broker-api-versions",
    "test_kafka_consumer_groups_tells_of_groups": (
        "kafka-consumer-groups: list, describe, members, state"
    ),
    "test_kafka_consumer_groups_resets_offsets": "kafka-consumer-groups: reset-offsets, 8 ways",
    "test_kafka_consumer_groups_deletes": "kafka-consumer-groups: delete, delete-offsets",
    "test_kafka_transactions_tells_of_one_that_goes_on": (
        "kafka-transactions: list, describe, describe-producers"
    ),
    "test_kafka_transactions_ends_one_that_hangs": "kafka-transactions: find-hanging, abort",
    "test_the_perf_tools_count_what_they_moved": (
        "kafka-producer-perf-test, kafka-consumer-perf-test"
    ),
    "test_the_verifiable_clients_see_each_record_once": (
        "kafka-verifiable-producer, kafka-verifiable-consumer"
    ),
}
_WORDS = {"passed": "yes", "failed": "**no**", "skipped": "not run"}
NOTES = (
    "- confluent-kafka's members say themselves where to begin what nothing was committed of. "
    "Left to itself, librdkafka goes back to the first offset of a partition that is taken from it "
    "while it asks for that offset, and given back within half a second, beside Apache Kafka too.",
    "- kafka-python's members ask for metadata before they join. Its leader joins again when its "
    "first metadata comes later, and hangs when such a join outlives one `poll`; so it does when a "
    "new topic joins the pattern, beside Apache Kafka too. A join that ends between two polls it "
    "forgets, and joins again; when a static leader comes back, that brings a rebalance. They poll "
    "once more before they pause: what it has just read to its end when it is paused, it does not "
    "read on when it is resumed.",
    "- aiokafka once did not take a new topic in, beside Apache Kafka.",
    "- kafka-python and aiokafka do not tell their user that a static member was fenced.",
    "- aiokafka, franz-go and sarama do not read lz4 in the first message format, whose header "
    "checksum is wrong for ever.",
    "- aiokafka, java-2.0 and kafkajs cannot tell the broker a member's generation when they add "
    "offsets to a transaction (KIP-447): their loops have a transactional id for each partition.",
    "- franz-go adds offsets to a transaction only as a member of a group: its loop does.",
    "- kafka-python sends offsets that were refused along with those of its next transaction, "
    "beside Apache Kafka too: its loop makes a new producer then.",
    "- sarama adds them when it commits, and knows the broker's word for a fenced producer only by "
    "its number.",
    "- kafkajs shows aborted records where aborted transactions of several producers overlap, "
    "beside Apache Kafka too.",
    "- kafkajs, fenced at the first step of a transaction, says so; yet its abort then succeeds, "
    "and its user must know that the producer is of no more use.",
    "- kcat is tried as a producer, a reader and a member of groups only.",
)
FEATURES = (*_FEATURES.values(), *group_features.ORDER, *transaction_features.ORDER)
ROSTERS = (*GROUP_ROSTER, *TRANSACTION_ROSTER)


class Cell(NamedTuple):
    client: str
    feature: str


def features_of(test: str, parameters: Mapping[str, Any]) -> list[Cell]:
    """What a test proves, and of whom."""
    if "scenario" in parameters:
        client = parameters["name"]
        abilities = [each for entry in ROSTERS if entry.name == client for each in entry.abilities]
        proved = [each for each in parameters["scenario"].proves if each in abilities]
        return [Cell(client, each) for each in proved]
    if test in _TOOLS:
        return [Cell(TOOLS, _TOOLS[test])]
    if test in _KCAT:
        return [Cell("kcat", _KCAT[test])]
    return [Cell(parameters["name"], _FEATURES[test])] if test in _FEATURES else []


def rendered(outcomes: Mapping[Cell, str]) -> str:
    head = ["feature", *CLIENTS]
    rows = [
        [feature, *(_word(outcomes, Cell(client, feature)) for client in CLIENTS)]
        for feature in FEATURES
    ]
    tools = [[each, _word(outcomes, Cell(TOOLS, each))] for each in _TOOLS.values()]
    versions = [[client, found] for client, found in _versions().items()]
    return "\n".join(
        [
            "# Conformance",
            "",
            "Which clients of other people were tried with Ottla, and what came of it. Written by "
            "`make conformance`",
            "from its own run; not to be edited. *yes*: its tests passed. —: not tried, mostly "
            "because the client",
            "does not have it; the notes below say where that is not the reason.",
            "",
            *_table(head, rows),
            "",
            "A client's records are checked whatever happens to its group: none is lost, none is "
            "read by two owners at a",
            "time, and what it commits is what the broker tells. Exactly-once loops are judged by "
            "the checker of",
            "`ottla verify`: each input has one output, and a transaction is whole or absent.",
            "",
            "## Notes",
            "",
            *NOTES,
            "",
            f"## Kafka's own command-line tools, {jars.VERSION}",
            "",
            *_table(["tool", "result"], tools),
            "",
            "## Versions",
            "",
            *_table(["client", "version"], versions),
            "",
        ]
    )


def _word(outcomes: Mapping[Cell, str], cell: Cell) -> str:
    return _WORDS[outcomes[cell]] if cell in outcomes else "—"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _versions() -> dict[str, str]:
    module = (go_client.MODULE / "go.mod").read_text(encoding="utf-8")
    package = json.loads((node_client.PACKAGE / "package.json").read_text(encoding="utf-8"))
    known = {
        "java-0.10.2": "0.10.2.2",
        "java-2.0": "2.0.0",
        "java-3.9": "3.9.1",
        "java-4.3": "4.3.0",
        "franz-go": _required(module, "github.com/twmb/franz-go"),
        "sarama": _required(module, "github.com/IBM/sarama"),
        "kafkajs": package["dependencies"]["kafkajs"],
        "kcat": _kcat_version(),
    }
    return {client: known.get(client) or version(client) for client in CLIENTS}


def _required(module: str, name: str) -> str:
    found = re.search(rf"\b{re.escape(name)} v(\S+)", module)
    assert found is not None
    return found[1]


def _kcat_version() -> str:
    if shutil.which("kcat") is None:
        return "not installed"
    done = subprocess.run(["kcat", "-V"], check=False, capture_output=True, text=True)
    found = re.search(r"Version (\S+)", done.stdout + done.stderr)
    return found[1] if found else "unknown"
