"""Offsets of many partitions in the JSON of Spark's connector: `{"topic":{"0":5,"1":-1}}`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

Place = tuple[str, int]  # topic and partition
Offsets = dict[Place, int]
ByTopic = dict[str, dict[str, int]]

LATEST = -1
EARLIEST = -2


def by_topic(offsets: Mapping[Place, int]) -> ByTopic:
    """In order: Spark takes offsets for the same only if their text is."""
    found: ByTopic = {}
    for (topic, partition), offset in sorted(offsets.items()):
        found.setdefault(topic, {})[str(partition)] = offset
    return found


def by_place(offsets: Mapping[str, Mapping[str, int]]) -> Offsets:
    return {
        (topic, int(partition)): offset
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
    }


def to_json(offsets: Mapping[Place, int]) -> str:
    return json.dumps(by_topic(offsets), separators=(",", ":"))


def parse_offsets(text: str) -> Offsets:
    """ValueError with the right form, if it is another."""
    wrong = f'not of the form {{"topic":{{"0":23,"1":-1}}}}: {text}'
    found = _parsed(text, wrong)
    if not all(isinstance(each, dict) for each in found.values()):
        raise ValueError(wrong)
    try:
        places = by_place(found)
    except ValueError as cause:
        raise ValueError(wrong) from cause
    if not all(isinstance(offset, int) for offset in places.values()):
        raise ValueError(wrong)
    return places


def parse_places(text: str) -> list[Place]:
    """Of `assign`: `{"topic":[0,1]}`."""
    wrong = f'not of the form {{"topic":[0,1]}}: {text}'
    found = _parsed(text, wrong)
    if not all(isinstance(each, list) for each in found.values()):
        raise ValueError(wrong)
    places = [(topic, partition) for topic, numbers in found.items() for partition in numbers]
    if not all(isinstance(partition, int) for _, partition in places):
        raise ValueError(wrong)
    return places


def names(places: Iterable[Place]) -> str:
    return ", ".join(f"{topic}-{partition}" for topic, partition in sorted(places))


def _parsed(text: str, wrong: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as cause:
        raise ValueError(wrong) from cause
    if not isinstance(found, dict):
        raise ValueError(wrong)
    return found
