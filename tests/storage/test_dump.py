"""A dump agrees, line for line, with what Kafka's own tool prints of the same files."""

from __future__ import annotations

import gzip
import json
from typing import NamedTuple

import pytest

from ottla.logtools.dump import Contents, Dump, DumpOptions, Release
from tests.storage.log_directories import KAFKA_2_0, KAFKA_3_9, VECTORS, disk_with, files_of


class Expected(NamedTuple):
    release: Release
    path: str
    options: list[str]
    lines: list[str]


def load(release: Release, dumps: str) -> list[Expected]:
    with gzip.open(VECTORS / dumps, "rt", encoding="utf-8") as file:
        found = json.load(file)
    return [Expected(release, path, one["options"], one["lines"]) for path, one in found.items()]


TARS = {Release.KAFKA_3_9: KAFKA_3_9, Release.KAFKA_2_0: KAFKA_2_0}
DISKS = {release: disk_with(files_of(name)) for release, name in TARS.items()}
EXPECTED = [
    *load(Release.KAFKA_3_9, "dumps.json.gz"),
    *load(Release.KAFKA_2_0, "old-dumps.json.gz"),
]


# Where the tool of 2.0 itself gives up, in the middle of a line.
STOPS = {
    (Release.KAFKA_2_0, "broker-0/__consumer_offsets-0/00000000000000000000.log"): [
        "Kafka 2.0 stops here: an assignment without user data, as clients since 2.4 write it"
    ]
}


def contents_of(options: list[str]) -> Contents:
    if "--offsets-decoder" in options:
        return Contents.OFFSETS
    if "--transaction-log-decoder" in options:
        return Contents.TRANSACTIONS
    return Contents.TEXT


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda e: f"{e.release.value}:{e.path}")
def test_a_file_is_dumped_in_the_words_of_its_release(expected: Expected) -> None:
    options = DumpOptions(contents=contents_of(expected.options), release=expected.release)
    dump = Dump(DISKS[expected.release], options)
    assert [line.text for line in dump.lines(expected.path)] == expected.lines
    assert [finding.what for finding in dump.findings] == STOPS.get(expected[:2], [])


@pytest.mark.parametrize("release", DISKS)
def test_every_file_of_a_log_directory_can_be_dumped_and_put_as_json(release: Release) -> None:
    dump = Dump(DISKS[release], DumpOptions(contents=Contents.TEXT))
    files = [path for path in files_of(TARS[release]) if not path.endswith("/.lock")]
    for path in files:
        assert all(json.dumps(line.to_json()) for line in dump.lines(path))
    assert dump.findings == []
