"""Where a pipeline began: exact offsets, kept, so that its first batch can be repeated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from ottla.pipelines.folder import Folder
from ottla.pipelines.kafka import Place

_FILE = "start.json"


def kept_start(folder: Folder, find: Callable[[], Mapping[Place, int]]) -> dict[Place, int]:
    """Found once, before the first batch; `latest` would be somewhere else at the second start."""
    if (data := folder.read(_FILE)) is not None:
        return places_from_json(data)
    found = dict(find())
    folder.write(_FILE, places_to_json(found))
    return found


def places_to_json(places: Mapping[Place, int]) -> bytes:
    """As Spark's connector writes offsets."""
    topics: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(places.items()):
        topics.setdefault(topic, {})[str(partition)] = offset
    return json.dumps(topics, separators=(",", ":")).encode()


def places_from_json(data: bytes) -> dict[Place, int]:
    return {
        (topic, int(partition)): offset
        for topic, partitions in json.loads(data).items()
        for partition, offset in partitions.items()
    }
