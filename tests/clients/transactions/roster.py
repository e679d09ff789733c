"""Every client that is tried in transactions, with what it can: as ../roster.py is for the rest."""

from __future__ import annotations

from functools import partial

from tests.clients import go_client, java_client, node_client
from tests.clients.groups.crew import Starter
from tests.clients.groups.roster import Entry, start_python
from tests.clients.transactions import features as f

_python = partial(start_python, "tests.clients.transactions.python_program")


def _without(*abilities: str) -> tuple[str, ...]:
    return tuple(each for each in f.ORDER if each not in abilities)


ROSTER = (
    Entry("confluent-kafka", partial(_python, "confluent-kafka"), f.ORDER),
    Entry("kafka-python", partial(_python, "kafka-python"), f.ORDER),
    # Who cannot tell the broker its generation is fenced by a transactional id for each partition.
    Entry("aiokafka", partial(_python, "aiokafka"), _without(f.GENERATION)),
    Entry("java-2.0", partial(java_client.start_transactions, "2.0.0"), _without(f.GENERATION)),
    Entry("java-3.9", partial(java_client.start_transactions, "3.9.1"), f.ORDER),
    Entry("java-4.3", partial(java_client.start_transactions, "4.3.0"), f.ORDER),
    # Only a member of a group can add offsets to its transaction: in its loops it does.
    Entry("franz-go", partial(go_client.start_transactions, "franz"), _without(f.OFFSETS)),
    Entry("sarama", partial(go_client.start_transactions, "sarama"), f.ORDER),
    # Where aborted transactions of several producers overlap it shows records of some of them.
    Entry("kafkajs", node_client.start_transactions, _without(f.GENERATION, f.CHAIN)),
)
STARTERS: dict[str, Starter] = {entry.name: entry.start for entry in ROSTER}
