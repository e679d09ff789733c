"""Members of one of Python's clients, driven by lines as ../program.py says.

open NAME option=value…     it comes; see options.py
do NAME verb word…          between two polls: commit_sync, commit_async, seek, pause, …
close NAME                  it goes, and says so
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from tests.clients.groups.aiokafka_member import AiokafkaMember
from tests.clients.groups.confluent_member import ConfluentMember
from tests.clients.groups.kafka_python_member import KafkaPythonMember
from tests.clients.groups.options import Options
from tests.clients.groups.python_member import PythonMember

LIBRARIES: dict[str, Callable[[str, str, Options], PythonMember]] = {
    "confluent-kafka": ConfluentMember,
    "kafka-python": KafkaPythonMember,
    "aiokafka": AiokafkaMember,
}


def serve(answer: Callable[..., Any]) -> None:
    """A line in, a line out, until the end of the input."""
    for line in sys.stdin:
        try:
            found = {"ok": answer(*line.rstrip("\n").split("\t"))}
        except Exception as error:
            found = {"error": repr(error)}
        sys.stdout.write(f"{json.dumps(found)}\n")
        sys.stdout.flush()


def main(library: str, bootstrap: str) -> None:
    members: dict[str, PythonMember] = {}

    def answer(command: str, name: str, *words: str) -> Any:
        if command == "open":
            members[name] = LIBRARIES[library](bootstrap, name, Options.of(words))
            return members[name].start()
        if command == "close":
            return members.pop(name).close()
        return members[name].do(words[0], words[1:])

    serve(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
