"""Every client that is tried in groups, with what it can: as ../roster.py is for the rest."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.clients import go_client, java_client, node_client
from tests.clients.groups import features as f
from tests.clients.groups.crew import Host, Starter
from tests.clients.groups.kcat_members import KcatMembers
from tests.clients.program import Lines

ROOT = Path(__file__).parents[3]
_WITHOUT_STATIC = tuple(
    each for each in f.ORDER if each not in (f.STATIC, f.FENCING, f.COOPERATIVE)
)


class Entry(NamedTuple):
    name: str
    start: Starter
    abilities: Sequence[str]


def start_python(module: str, library: str, bootstrap: str, log: Path) -> Host:
    command = ["env", f"PYTHONPATH={os.pathsep.join([str(ROOT), *sys.path])}", sys.executable]
    return Lines(library, [*command, "-m", module, library, bootstrap], log=log)


_python = partial(start_python, "tests.clients.groups.python_program")


def _without(*abilities: str) -> tuple[str, ...]:
    return tuple(each for each in f.ORDER if each not in abilities)


ROSTER = (
    # It has no wake-up: who waits in another thread closes it.
    Entry("confluent-kafka", partial(_python, "confluent-kafka"), _without(f.WAKE)),
    # A fenced one of these two says nothing of it to its user. kafka-python 3.0.12 forgets a join
    # that a new topic brings and that outlives one poll, beside a real Kafka as well.
    Entry(
        "kafka-python",
        partial(_python, "kafka-python"),
        _without(f.WAKE, f.FENCING, f.NEW_TOPICS),
    ),
    # aiokafka's leader once dealt out what it knew before a new topic, and left it at that.
    Entry(
        "aiokafka",
        partial(_python, "aiokafka"),
        _without(f.COOPERATIVE, f.FENCING, f.ASYNC, f.NEW_TOPICS),
    ),
    # Static members came with 2.3, cooperative ones with 2.4.
    Entry("java-0.10.2", partial(java_client.start_members, "0.10.2.2"), _WITHOUT_STATIC),
    Entry("java-2.0", partial(java_client.start_members, "2.0.0"), _WITHOUT_STATIC),
    Entry("java-3.9", partial(java_client.start_members, "3.9.1"), f.ORDER),
    Entry("java-4.3", partial(java_client.start_members, "4.3.0"), f.ORDER),
    Entry(
        "franz-go",
        partial(go_client.start_members, "franz"),
        _without(f.MAX_POLL, f.SEEK_ENDS),
    ),
    Entry(
        "sarama",
        partial(go_client.start_members, "sarama"),
        _without(
            *(f.FENCING, f.MAX_POLL, f.REGEX, f.NEW_TOPICS, f.ASYNC, f.SEEK, f.SEEK_ENDS, f.WAKE)
        ),
    ),
    # Its patterns are matched once, when it subscribes; its own assignor has a name of its own.
    Entry(
        "kafkajs",
        node_client.start_members,
        (f.EAGER, f.LISTENER, f.CRASH, f.STALL, f.REGEX, f.SYNC, f.PAUSE, f.SEEK),
    ),
    Entry(
        "kcat",
        KcatMembers,
        (f.EAGER, f.LISTENER, f.STATIC, f.CRASH, f.STALL, f.REGEX, f.NEW_TOPICS),
    ),
)
STARTERS: dict[str, Starter] = {entry.name: entry.start for entry in ROSTER}
