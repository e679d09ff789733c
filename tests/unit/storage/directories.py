"""The log directories that real brokers left behind, and what Kafka's own tool says of them."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

VECTORS = Path(__file__).parents[2] / "storage" / "vectors"
TARS = ("segments", "old-segments")


def files(*endings: str) -> Iterator[tuple[str, bytes]]:
    """Every file of both tars whose name ends so, as `segments/broker-0/…` and its bytes."""
    for name in TARS:
        with tarfile.open(VECTORS / f"{name}.tar.gz") as tar:
            for member in tar:
                if member.isfile() and member.name.endswith(endings):
                    content = tar.extractfile(member)
                    assert content is not None
                    yield f"{name}/{member.name.removeprefix('./')}", content.read()


def dumped(path: str) -> list[dict[str, int]]:
    """What DumpLogSegments prints of a file, line by line, as numbers by name."""
    tar, _, name = path.partition("/")
    dumps = "dumps" if tar == "segments" else "old-dumps"
    with gzip.open(VECTORS / f"{dumps}.json.gz", "rt", encoding="utf-8") as content:
        return [_fields(line) for line in json.load(content)[name]["lines"]]


def _fields(line: str) -> dict[str, int]:
    pairs = re.findall(r"(\w+): (\S+)", line)
    numbers = ((name, re.search(r"-?\d+", value)) for name, value in pairs)
    return {name: int(match[0]) for name, match in numbers if match is not None}
