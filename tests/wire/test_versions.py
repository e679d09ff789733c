"""Which versions there are and what header each has, against what Apache Kafka 3.9.1 says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ottla.protocol.registry import (
    API_NAMES,
    request_header_version,
    request_type,
    response_header_version,
    response_type,
)

KAFKA: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "versions.json").read_text(encoding="utf-8")
)


def test_we_have_the_apis_of_kafka_under_the_same_names() -> None:
    assert {str(key): name for key, name in API_NAMES.items()} == {
        key: facts["name"] for key, facts in KAFKA.items()
    }


@pytest.mark.parametrize("key", KAFKA)
def test_an_api_has_the_versions_and_headers_it_has_in_kafka(key: str) -> None:
    facts, number = KAFKA[key], int(key)
    versions = range(facts["min"], facts["max"] + 1)
    for cls in (request_type(number), response_type(number)):
        assert (cls.oldest, cls.newest) == (facts["min"], facts["max"])
        assert cls.flexible_from == facts["first_flexible"]
    requests = [request_header_version(number, version) for version in versions]
    responses = [response_header_version(number, version) for version in versions]
    assert requests == facts["request_headers"]
    assert responses == facts["response_headers"]
