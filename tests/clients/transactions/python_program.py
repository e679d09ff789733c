"""Transactions of one of Python's clients, driven by lines as ../program.py says.

producer NAME ID TIMEOUT_MS             it comes, and the id is its own
begin | commit | abort NAME
send NAME TOPIC PARTITIONS FIRST COUNT  numbers, each into the partition that it leaves as remainder
offsets NAME GROUP TOPIC PARTITION OFFSET
reader NAME TOPIC PARTITIONS            reads what is committed, from the beginning
seen NAME                               by a reader, so far: partition, offset, value of each
loop NAME option=value…                 see options.py
hang NAME before|after, go NAME         a loop, within a transaction: see python_actors.py
close NAME
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.clients.groups.python_program import serve
from tests.clients.transactions.aiokafka_actors import (
    AiokafkaLoop,
    AiokafkaProducer,
    AiokafkaReader,
)
from tests.clients.transactions.confluent_actors import (
    ConfluentLoop,
    ConfluentProducer,
    ConfluentReader,
)
from tests.clients.transactions.kafka_python_actors import (
    KafkaPythonLoop,
    KafkaPythonProducer,
    KafkaPythonReader,
)
from tests.clients.transactions.options import LoopOptions
from tests.clients.transactions.python_actors import Producer, PythonLoop, PythonReader


class Library(NamedTuple):
    producer: Callable[[str, str, int], Producer]
    reader: Callable[[str, str, int], PythonReader]
    loop: Callable[[str, str, LoopOptions], PythonLoop]


LIBRARIES = {
    "confluent-kafka": Library(ConfluentProducer, ConfluentReader, ConfluentLoop),
    "kafka-python": Library(KafkaPythonProducer, KafkaPythonReader, KafkaPythonLoop),
    "aiokafka": Library(AiokafkaProducer, AiokafkaReader, AiokafkaLoop),
}


class Program:
    def __init__(self, library: str, bootstrap: str) -> None:
        self._library = LIBRARIES[library]
        self._bootstrap = bootstrap
        self._actors: dict[str, Any] = {}

    def answer(self, command: str, name: str, *words: str) -> Any:
        match command, words:
            case "producer", (transactional_id, timeout_ms):
                made = self._library.producer(self._bootstrap, transactional_id, int(timeout_ms))
                self._actors[name] = made
            case "reader", (topic, partitions):
                self._actors[name] = self._library.reader(self._bootstrap, topic, int(partitions))
            case "loop", _:
                options = LoopOptions.of(words)
                self._actors[name] = self._library.loop(self._bootstrap, name, options)
            case "send", (topic, partitions, first, count):
                numbers = range(int(first), int(first) + int(count))
                records = [(number % int(partitions), b"%d" % number) for number in numbers]
                self._actors[name].write(topic, records)
            case "offsets", (group, topic, partition, offset):
                asked = {(topic, int(partition)): int(offset)}
                self._actors[name].add_offsets(group, asked, None)
            case "close", _:
                self._actors.pop(name).close()
            case _:
                return getattr(self._actors[name], command)(*words)
        return None


if __name__ == "__main__":
    serve(Program(*sys.argv[1:]).answer)
