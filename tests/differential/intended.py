"""Where Ottla means to answer otherwise than Apache Kafka 3.9.1, and why. Keep it short."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.differential.asking import TIMED_OUT
from tests.differential.case import Step
from tests.differential.comparison import Difference


class Intended(NamedTuple):
    api: str  # a pattern of the step's title, such as "Fetch v[01]"
    path: str  # a pattern of where the answers differ
    why: str


# What is not served yet is not advertised: groups, transactions, security, quotas, reassignment.
_LATER = "8|9|1[0-7]|2[4-9]|3[01689]|4[0125-9]|5[01678]|6[567]"

INTENDED = (
    Intended(
        r"ApiVersions v\d",
        rf"answer\.apiKeys\.\[({_LATER})\]",
        "only what works is advertised",
    ),
    Intended(
        r"Produce v.*",
        r"answer\.responses.*\.errorMessage",
        "3.9.1 explains few refusals; we say what is wrong with a batch, and what the limit is",
    ),
    Intended(
        r"ApiVersions v\d",
        r"answer\.apiKeys\.\[6[89]\]",
        "3.9.1 advertises the new consumer protocol though it is off; we do when it works",
    ),
    Intended(
        r"Fetch v[01]",
        r"answer\.responses.*\.records",
        "with an error 3.9.1 sends null records there, and librdkafka then asks without end",
    ),
)
# Not asked here, since no request brings it about: on a full disk Kafka takes the whole log
# directory offline, and Ottla refuses that append with KAFKA_STORAGE_ERROR and serves on.


def is_intended(step: Step, difference: Difference) -> bool:
    # Kafka's handler fails inside and answers nothing at all: any answer is better.
    if difference.kafka == TIMED_OUT:
        return True
    return any(
        re.fullmatch(each.api, step.title) and re.match(each.path, difference.path)
        for each in INTENDED
    )
