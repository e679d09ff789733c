"""What the tests beside a real Kafka share: its jars, and one broker with our partitions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka import jars
from tests.kafka.peer import KafkaPeer
from tests.kafka.stay import INDEX_BYTES, Back, Stay, begin, come_back


@pytest.fixture(scope="session")
def classpath() -> str:
    return jars.classpath()


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
