"""Topics that come to be because a client asked for them: its own, or a coordinator's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from ottla.broker.internal_topics import AutomaticTopics
from ottla.controller.controller import Controller
from ottla.controller.topics import TopicRules, create_topics
from ottla.metadata.cache import MetadataCache
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.store.port import StoreError

_logger = logging.getLogger(__name__)


class AutoCreation:
    """Starts creations, and answers at once: clients ask again until the topic is there."""

    def __init__(
        self,
        topics: AutomaticTopics,
        metadata: MetadataCache,
        rules: TopicRules,
        *,
        controller: Callable[[], Controller],
        spawn: Callable[[Coroutine[Any, Any, None], str], None],
    ) -> None:
        self._topics = topics
        self._metadata = metadata
        self._rules = rules
        self._controller = controller
        self._spawn = spawn
        self._under_way: dict[str, None] = {}  # a crowd of clients asks for the same

    def create(self, names: list[str]) -> Mapping[str, ErrorCode]:
        """Why some of them cannot be created now."""
        brokers = len(self._metadata.image.brokers)
        refused = {
            name: ErrorCode.INVALID_REPLICATION_FACTOR
            for name in names
            if self._topics.replication_factor(name) > brokers
        }
        for name in refused:
            needed = self._topics.replication_factor(name)
            _logger.warning("%s needs %d brokers for its replicas; %d live", name, needed, brokers)
        wanted = [name for name in names if name not in refused and name not in self._under_way]
        if wanted:
            self._under_way.update(dict.fromkeys(wanted))
            self._spawn(self._create(wanted), f"the creation of {', '.join(wanted)}")
        return refused

    async def _create(self, names: list[str]) -> None:
        topics = [self._topics.creatable(name) for name in names]
        try:
            results = await create_topics(
                self._controller(), topics, self._rules, validate_only=False
            )
        except (KafkaError, StoreError) as error:
            _logger.warning("topics that clients asked for were not created: %s", error)
        else:
            for result in results:
                if result.code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                    _logger.warning("%s was not created: %s", result.name, result.message)
        finally:
            for name in names:
                del self._under_way[name]
