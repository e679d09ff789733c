"""Where Ottla means to answer otherwise than Apache Kafka 3.9.1, and why. Keep it short."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from tests.differential.asking import TIMED_OUT
from tests.differential.case import Case, Step
from tests.differential.comparison import ABSENT, Difference


class Intended(NamedTuple):
    """Patterns of the step's title, of where the answers differ, and of what they say there."""

    api: str
    path: str
    why: str
    kafka: str = ".*"
    other: str = ".*"
    case: str = ".*"


# What is not served yet is not advertised: what brokers ask brokers.
_LATER = "5[68]"

INTENDED = (
    Intended(
        r"ApiVersions v\d",
        rf"answer\.apiKeys\.\[({_LATER})\]",
        "only what works is advertised",
    ),
    Intended(
        r"ApiVersions v\d",
        r"answer\.apiKeys\.\[6[89]\]",
        "3.9.1 advertises the new consumer protocol though it is off; we do when it works",
    ),
    Intended(
        r".*",
        r"answer\.(.*\.)?errorMessage",
        "3.9.1 explains few refusals; we say what is wrong, and what the limit is",
        kafka='null|""',
        other='"<text>"',
    ),
    Intended(
        r".*",
        r"answer\.(.*\.)?errorCode",
        "3.9.1 fails inside where nobody thought of such a request; we say what is wrong with it",
        kafka='"UNKNOWN_SERVER_ERROR"',
        other='"(?!NONE).*"',
    ),
    Intended(
        r"Metadata v12",
        r"answer\.(brokers|clusterId|controllerId|topics)\b",
        "3.9.1 fails inside and its whole answer is empty; we say UNKNOWN_TOPIC_ID of that topic",
        case="metadata-by-zero-id",
    ),
    Intended(
        r"Fetch v.*",
        r"answer\.responses.*\.records",
        "with an error 3.9.1 sends null records there, and librdkafka then asks without end",
        kafka="null",
    ),
    Intended(
        r"Fetch v[0-3]",
        r"answer\.responses.*\.cutOffBytes",
        "what is left for padding depends on how well the codec's implementation compresses",
        case=r"(fetch|format)-.*\b(gzip|snappy|lz4)\b.*",
    ),
    Intended(
        r"Produce v.*",
        r"answer\.responses.*\.(errorCode|logStartOffset)",
        "a codec that does not exist is a corrupt batch, and with those no log start is told",
        case="produce-unknown-codec",
    ),
    Intended(
        r"(Produce|Fetch) v.*",
        r"answer\.responses",
        "records are never decompressed or read on their way: a batch is taken at its word",
        case="produce-(broken-compression|lying-max-timestamp)",
    ),
    Intended(
        r"CreateTopics v7",
        r"answer\.topics",
        "3.9.1 creates a topic of which no broker holds anything; we refuse the assignment",
        other='".*INVALID_REPLICA_ASSIGNMENT"|"<text>"|"A{22}"',
        case="create-topics-assigned-to-none",
    ),
    Intended(
        r"(CreateTopics v7|Fetch v12|Metadata v12)",
        r"answer\.(topics|responses)",
        "a topic that was deleted can be created anew at once: its old files are not in the way",
        case="delete-topics-and-create-anew",
    ),
    Intended(
        r"DescribeConfigs v0",
        r"answer\.results.*\.isDefault",
        "3.9.1 no longer fills this field in; we still say it to those who have no other",
        kafka="false",
        other="true",
    ),
    Intended(
        r"DescribeConfigs v\d",
        r"answer\.results\.\[0\]\.configs\.\[(zookeeper\.connect\]|ottla\.)",
        "the metadata store is built in unless zookeeper.connect is set; ottla.* are our own",
    ),
    Intended(
        r"DescribeTransactions v0",
        r"answer\.transactionStates.*\.transactionStartTimeMs",
        "3.9.1 shows when the transaction before began, until its coordinator is loaded anew",
        kafka='"<now>"',
        other="-1",
        case="transaction-init-(after-commit|while-ongoing-v.)",
    ),
    Intended(
        r"Produce v\d+",
        r"answer\.responses.*\.(errorCode|logStartOffset)",
        "3.9.1 verifies no batch of a producer that is in a transaction, whatever its epoch is",
        kafka='"OUT_OF_ORDER_SEQUENCE_NUMBER"|0',
        other='"INVALID_PRODUCER_EPOCH"|-1',
        case=r"transaction-produce-refused-v\d+",
    ),
    Intended(
        r"Metadata v\d",
        r"",
        "what the protocol does not allow is refused: text that is not UTF-8, lengths below -1, "
        "tags that do not ascend; 3.9.1 guesses what was meant",
        other='"closed"',
        case="frame-(lying-array|no-utf8|unknown-tags)",
    ),
)
# Not asked here, since no request brings it about: on a full disk Kafka takes the whole log
# directory offline, and Ottla refuses that append with KAFKA_STORAGE_ERROR and serves on.


def is_intended(case: Case, step: Step, difference: Difference) -> bool:
    # Kafka's handler fails inside and answers nothing at all: any answer is better.
    if difference.kafka == TIMED_OUT:
        return True
    return any(
        re.fullmatch(each.case, case.name)
        and re.fullmatch(each.api, step.title)
        and re.match(each.path, difference.path)
        and re.fullmatch(each.kafka, _text(difference.kafka))
        and re.fullmatch(each.other, _text(difference.other))
        for each in INTENDED
    )


def _text(value: Any) -> str:
    return ABSENT if value == ABSENT else json.dumps(value)
