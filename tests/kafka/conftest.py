"""What the tests beside a real Kafka share: its jars, and one broker with our partitions."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.kafka import jars
from tests.kafka.peer import KafkaPeer
from tests.kafka.stay import INDEX_BYTES, Back, Stay, begin, come_back


@pytest.fixture(scope="session")
def classpath() -> str:
    """Skips the tests where Java or Maven is missing, except in CI."""
    try:
        return jars.classpath()
    except jars.KafkaMissing as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def stay(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stay]:
    settings = {"log.index.size.max.bytes": INDEX_BYTES}
    peer = KafkaPeer(classpath, tmp_path_factory.mktemp("kafka"), settings)
    try:
        yield begin(peer, tmp_path_factory.mktemp("written"))
    finally:
        peer.close()


@pytest.fixture(scope="session")
def returned(stay: Stay, tmp_path_factory: pytest.TempPathFactory) -> Back:
    return come_back(stay, tmp_path_factory.mktemp("returned"))
