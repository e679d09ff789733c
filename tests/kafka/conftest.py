"""What the tests beside a real Kafka share: its jars, and one broker with our partitions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka import jars
from tests.kafka.stay import Returned, Stay, begin, come_back


@pytest.fixture(scope="session")
def classpath() -> str:
    return jars.classpath()


@pytest.fixture(scope="session")
def stay(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stay]:
    begun = begin(classpath, tmp_path_factory.mktemp("kafka"))
    yield begun
    begun.peer.close()


@pytest.fixture(scope="session")
def returned(stay: Stay, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Returned]:
    return come_back(stay, tmp_path_factory.mktemp("returned"))
