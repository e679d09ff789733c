"""A dump agrees, line for line, with what Kafka's own tool prints of the same files."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest

from ottla.logtools.dump import Contents, Dump, DumpOptions, Release
from tests.storage.disk_in_memory import MemoryDisk

VECTORS = Path(__file__).parent / "vectors"


class Expected(NamedTuple):
    release: Release
    path: str
    options: list[str]
    lines: list[str]


def load(release: Release, dumps: str) -> list[Expected]:
    with gzip.open(VECTORS / dumps, "rt", encoding="utf-8") as file:
        found = json.load(file)
    return [Expected(release, path, one["options"], one["lines"]) for path, one in found.items()]


def unpack(name: str) -> MemoryDisk:
    with tarfile.open(VECTORS / name) as tar:
        members = [member for member in tar.getmembers() if member.isfile()]
        contents = {member.name: tar.extractfile(member) for member in members}
        return MemoryDisk(
            {name.removeprefix("./"): file.read() for name, file in contents.items() if file}
        )


DISKS = {
    Release.KAFKA_3_9: unpack("segments.tar.gz"),
    Release.KAFKA_2_0: unpack("old-segments.tar.gz"),
}
EXPECTED = [
    *load(Release.KAFKA_3_9, "dumps.json.gz"),
    *load(Release.KAFKA_2_0, "old-dumps.json.gz"),
]


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
