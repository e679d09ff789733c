"""Starts a broker by its name. TARGETS says which ones the tests beside a broker run against."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.kafka import jars
from tests.kafka.peer import KafkaPeer
from tests.targets.ottla_program import OttlaProgram

# A real Kafka proves the tests, not Ottla: it is asked in the long run only, or by name.
SOAKING = os.environ.get("OTTLA_TEST_PROFILE") == "soak"
_USUAL = "ottla,kafka" if SOAKING else "ottla"
TARGETS = tuple(os.environ.get("OTTLA_TEST_TARGETS", _USUAL).split(","))


@contextmanager
def started(name: str, folder: Path, settings: Mapping[str, str]) -> Iterator[str]:
    """The address of a fresh broker with these settings, that ends with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "kafka":
        peer = KafkaPeer(jars.classpath(), folder, settings)
        try:
            peer.start()
            yield peer.bootstrap
        finally:
            peer.close()
    else:
        with OttlaProgram(folder, settings) as program:
            yield program.bootstrap
