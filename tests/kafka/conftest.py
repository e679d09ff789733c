"""What the tests beside a real Kafka share: its jars."""

from __future__ import annotations

import pytest

from tests.kafka import jars


@pytest.fixture(scope="session")
def classpath() -> str:
    return jars.classpath()
