"""The cluster as this broker was last told of it, and who wants to hear of changes."""

from __future__ import annotations

from collections.abc import Callable

from ottla.metadata.delta import apply
from ottla.metadata.image import ClusterImage
from ottla.protocol.apis.update_metadata import UpdateMetadataRequest
from ottla.protocol.errors import ErrorCode, KafkaError


class MetadataCache:
    """Holds the newest image; only UpdateMetadata changes it."""

    def __init__(self, cluster_id: str) -> None:
        self.image = ClusterImage(cluster_id)
        self.on_change: list[Callable[[tuple[str, ...]], None]] = []

    def update(self, request: UpdateMetadataRequest) -> tuple[str, ...]:
        """The names of the topics that are not as before; whoever waits for them is told."""
        self.image, changed = apply(self.image, request)
        for tell in self.on_change:
            tell(changed)
        return changed

    def exists(self, topic: str, index: int) -> bool:
        return self.image.partition(topic, index) is not None

    def topic_named(self, topic_id: bytes) -> str:
        name = self.image.topic_names.get(topic_id)
        if name is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic {topic_id.hex()}")
        return name
