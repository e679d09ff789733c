"""Every record set and log file that Apache Kafka wrote is read, rebuilt and converted alike."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.wire.record_sets import check_batches, check_downconvert

VECTORS = Path(__file__).parent / "vectors"


def cases(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def test_batches_are_read_and_rebuilt_as_kafka_writes_them() -> None:
    results = [(case["name"], check_batches(case)) for case in cases("batches")]
    assert len(results) == 112
    assert [result for result in results if result[1]] == []


def test_record_sets_are_converted_for_old_consumers_as_kafka_does() -> None:
    results = [
        (case["name"], case["first_offset"], check_downconvert(case))
        for case in cases("downconvert")
    ]
    assert len(results) == 72
    assert [result for result in results if result[2]] == []


@pytest.mark.parametrize("name", ["segments", "old-segments"])
def test_log_files_of_real_brokers_are_read_and_rebuilt(name: str) -> None:
    results = []
    with tarfile.open(VECTORS / f"{name}.tar.gz") as archive:
        files = {member.name.removeprefix("./"): member for member in archive if member.isfile()}
        for case in cases(name):
            path = next(path for path in files if path.endswith(case["file"]))
            content = archive.extractfile(files[path])
            assert content is not None
            results.append((case["file"], check_batches(case, content.read())))
    assert results
    assert [result for result in results if result[1]] == []
