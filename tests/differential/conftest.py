"""A real Kafka to ask anew."""

from __future__ import annotations

import pytest

from tests.kafka import jars


@pytest.fixture(scope="session")
def classpath() -> str:
    return jars.classpath()
