"""Configuration while the broker runs: default < server.properties < all brokers < this broker,
and for a topic its own over those. What the store says is set here; what clients ask is judged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ottla.config.alterations import Alteration, altered, replaced
from ottla.config.broker_config import BrokerConfig
from ottla.config.broker_rules import (
    check_listening,
    check_names,
    check_secrets,
    check_step,
    listening_names,
)
from ottla.config.description import (
    ConfigEntry,
    Layer,
    Source,
    Wanted,
    describe_broker,
    describe_layer,
    describe_topic,
)
from ottla.config.names import find_option
from ottla.config.option import Config, ConfigError, parse_values
from ottla.config.stored import Stored
from ottla.config.topic import TOPIC_OPTIONS
from ottla.config.topic_rules import check_topic_properties, inherited_values, topic_config

log = logging.getLogger(__name__)

Texts = Mapping[str, str]
Asked = Iterable[tuple[str, str | None]]
"""What AlterConfigs asks for: pairs of name and value, either of which may be nonsense."""


@dataclass(frozen=True, slots=True)
class BrokerChanged:
    """The broker's options changed, and with them maybe the default of every topic's."""

    before: BrokerConfig
    after: BrokerConfig


@dataclass(frozen=True, slots=True)
class TopicChanged:
    """One topic's own options changed."""

    topic: str
    config: Config


Changed = BrokerChanged | TopicChanged


_NO_TOPIC = ""


@dataclass(frozen=True, slots=True)
class _TopicsOwn:
    """What a topic sets itself: as stored, and what of it is allowed."""

    texts: dict[str, str]
    values: dict[str, object]


class Overrides:
    """The layers of one broker. `broker` and `topic(name)` are what counts now."""

    def __init__(self, static: BrokerConfig) -> None:
        self.broker = static
        self._static = static
        self._all_brokers = Stored({}, cluster_wide=True)
        self._this_broker = Stored({}, cluster_wide=False)
        self._topics: dict[str, _TopicsOwn] = {}
        self._inherited = inherited_values(static)
        self._topic_configs: dict[str, Config] = {}  # made when asked for, dropped by changes
        self._listeners: list[Callable[[Changed], None]] = []

    def on_change(self, callback: Callable[[Changed], None]) -> None:
        """Called after each change that the store reports, in the order of registration."""
        self._listeners.append(callback)

    def topic(self, name: str) -> Config:
        """Topics without options of their own share one config."""
        key = name if name in self._topics else _NO_TOPIC
        config = self._topic_configs.get(key)
        if config is None:
            own = self._topics[key].values if key else {}
            config = self._topic_configs[key] = topic_config(own, self._inherited)
        return config

    def topic_properties(self, name: str) -> Mapping[str, str]:
        """What the topic sets itself."""
        return self._topics[name].texts if name in self._topics else {}

    # What the store says.

    def set_all_brokers(self, properties: Mapping[str, str]) -> None:
        """The content of /config/brokers/<default>."""
        stored = Stored(properties, cluster_wide=True)
        self._set_broker(all_brokers=stored, this_broker=self._this_broker)

    def set_this_broker(self, properties: Mapping[str, str]) -> None:
        """The content of /config/brokers/<id>."""
        stored = Stored(properties, cluster_wide=False)
        self._set_broker(all_brokers=self._all_brokers, this_broker=stored)

    def set_topic(self, name: str, properties: Mapping[str, str]) -> None:
        """The content of /config/topics/<name>."""
        self.forget_topic(name)
        if properties:
            values, mistakes = parse_values(TOPIC_OPTIONS, properties)
            for mistake in mistakes:
                log.warning("topic %s: a stored option is ignored: %s", name, mistake)
            self._topics[name] = _TopicsOwn(dict(properties), values)
        self._tell(TopicChanged(name, self.topic(name)))

    def forget_topic(self, name: str) -> None:
        """The topic is gone, so that nobody needs to be told: a new one brings its own options."""
        self._topics.pop(name, None)
        self._topic_configs.pop(name, None)

    # What clients ask: the properties to write to the store, or ConfigRefused. `stored` is what
    # the store has now; without it, what it last reported.

    def alter_topic(
        self, name: str, alterations: Sequence[Alteration], stored: Texts | None = None
    ) -> dict[str, str]:
        current = self.topic_properties(name) if stored is None else stored
        properties = altered(current, alterations, TOPIC_OPTIONS.get)
        check_topic_properties(properties, self.broker)
        return properties

    def replace_topic(self, asked: Asked) -> dict[str, str]:
        properties = replaced(asked)
        check_topic_properties(properties, self.broker)
        return properties

    def alter_all_brokers(
        self, alterations: Sequence[Alteration], stored: Texts | None = None
    ) -> dict[str, str]:
        current = self._all_brokers.texts if stored is None else stored
        return self._checked_all(altered(current, alterations, find_option))

    def replace_all_brokers(self, asked: Asked) -> dict[str, str]:
        return self._checked_all(replaced(asked))

    def alter_this_broker(
        self, alterations: Sequence[Alteration], stored: Texts | None = None
    ) -> dict[str, str]:
        current = self._this_broker.texts if stored is None else stored
        return self._checked_this(altered(current, alterations, find_option))

    def replace_this_broker(self, asked: Asked) -> dict[str, str]:
        return self._checked_this(replaced(asked))

    # What DescribeConfigs answers.

    def describe_topic(self, name: str, wanted: Wanted = None) -> list[ConfigEntry]:
        return describe_topic(self._layers(), self.topic(name), wanted)

    def describe_stored_topic(self, properties: Texts, wanted: Wanted = None) -> list[ConfigEntry]:
        """Of a topic that sets these, whether we were told of them yet or not."""
        values, _ = parse_values(TOPIC_OPTIONS, properties)
        return describe_topic(self._layers(), topic_config(values, self._inherited), wanted)

    def describe_this_broker(self, wanted: Wanted = None) -> list[ConfigEntry]:
        return describe_broker(self._layers(), self.broker, wanted)

    def describe_all_brokers(self, wanted: Wanted = None) -> list[ConfigEntry]:
        return describe_layer(
            Layer(Source.DYNAMIC_DEFAULT_BROKER, self._all_brokers.usable), wanted
        )

    def _layers(self) -> list[Layer]:
        return [
            Layer(Source.DYNAMIC_BROKER, self._this_broker.usable),
            Layer(Source.DYNAMIC_DEFAULT_BROKER, self._all_brokers.usable),
            Layer(Source.STATIC_BROKER, self._static.properties),
        ]

    def _checked_all(self, properties: dict[str, str]) -> dict[str, str]:
        check_names(properties, cluster_wide=True)
        check_secrets(before=self._all_brokers.texts, after=properties)
        check_step(self.broker, self._static.properties | properties | self._this_broker.effective)
        return properties

    def _checked_this(self, properties: dict[str, str]) -> dict[str, str]:
        check_names(properties, cluster_wide=False)
        check_listening(before=self._this_broker.texts, after=properties)
        check_secrets(before=self._this_broker.texts, after=properties)
        dynamic = self._all_brokers.effective | properties
        # What is stored and ignored takes no part.
        for name in listening_names(properties):
            del dynamic[name]
        check_step(self.broker, self._static.properties | dynamic)
        return properties

    def _set_broker(self, *, all_brokers: Stored, this_broker: Stored) -> None:
        self._all_brokers, self._this_broker = all_brokers, this_broker
        dynamic = all_brokers.effective | this_broker.effective
        try:
            after = BrokerConfig.load(self._static.properties | dynamic)
        except ConfigError as error:
            log.error("the stored broker options do not go together, so nothing changes: %s", error)
            return
        before, self.broker = self.broker, after
        self._inherited = inherited_values(after)
        self._topic_configs.clear()
        self._tell(BrokerChanged(before, after))

    def _tell(self, changed: Changed) -> None:
        for callback in self._listeners:
            callback(changed)
