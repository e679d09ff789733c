"""What DescribeConfigs answers: each value, where it comes from, and what it hides."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from ottla.config.broker import BROKER_OPTIONS, SYNONYMS
from ottla.config.kind import to_text
from ottla.config.names import find_option, listener_name
from ottla.config.option import Change, Computed, Config
from ottla.config.topic import BROKER_DEFAULT, TOPIC_OPTIONS

UNKNOWN_TYPE = 0


class Source(IntEnum):
    """As numbered in DescribeConfigs; the lower outweighs the higher."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    BROKER_LOGGER = 6


@dataclass(frozen=True, slots=True)
class Synonym:
    """A name, maybe another, by which somebody gave the value or would have."""

    name: str
    value: str | None
    source: Source


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One option described. A secret's value is None."""

    name: str
    value: str | None
    source: Source
    read_only: bool
    is_sensitive: bool
    type: int
    documentation: str | None
    synonyms: tuple[Synonym, ...] = ()

    @property
    def is_default(self) -> bool:
        return self.source is Source.DEFAULT


@dataclass(frozen=True, slots=True)
class Layer:
    """The texts that one source gives."""

    source: Source
    properties: Mapping[str, str]


Wanted = Collection[str] | None
"""Names to describe; None for all."""


def describe_broker(
    layers: Sequence[Layer], config: Config, wanted: Wanted = None
) -> list[ConfigEntry]:
    """`layers` from the strongest to the weakest, without the defaults."""
    names = [name for name, option in BROKER_OPTIONS.items() if not option.internal]
    names += [name for layer in layers for name in layer.properties]
    return [
        _broker_entry(name, layers, config)
        for name in dict.fromkeys(names)
        if wanted is None or name in wanted
    ]


def describe_layer(layer: Layer, wanted: Wanted = None) -> list[ConfigEntry]:
    """What one layer sets, and nothing else: the cluster-wide defaults."""
    return [
        _entry(name, text, [Synonym(name, text, layer.source)])
        for name, text in layer.properties.items()
        if wanted is None or name in wanted
    ]


def describe_topic(
    layers: Sequence[Layer], config: Config, wanted: Wanted = None
) -> list[ConfigEntry]:
    """`layers` are the broker's; what the topic sets itself is known to its config."""
    entries = []
    for name, option in TOPIC_OPTIONS.items():
        if wanted is not None and name not in wanted:
            continue
        value = to_text(config[option])
        synonyms = [Synonym(name, value, Source.TOPIC)] if config.is_set(option) else []
        if broker_option := BROKER_DEFAULT.get(name):
            synonyms += _broker_synonyms(broker_option.name, layers)
        source = synonyms[0].source if synonyms else Source.DEFAULT
        entries.append(
            ConfigEntry(
                name=name,
                value=value,
                source=source,
                read_only=False,
                is_sensitive=False,
                type=option.type.code,
                documentation=option.doc,
                synonyms=tuple(synonyms),
            )
        )
    return entries


def _broker_entry(name: str, layers: Sequence[Layer], config: Config) -> ConfigEntry:
    synonyms = list(_broker_synonyms(name, layers))
    if option := BROKER_OPTIONS.get(name):
        computed = isinstance(option.default, Computed) and not config.is_set(option)
        value = None if computed else to_text(config[option])
    else:
        value = synonyms[0].value
        if known := find_option(name):
            value = to_text(known.parse(value or ""))
    return _entry(name, value, synonyms)


def _entry(name: str, value: str | None, synonyms: Sequence[Synonym]) -> ConfigEntry:
    option = find_option(name)
    # What nobody knows might be a secret of a plugged-in class.
    sensitive = option is None or option.sensitive
    if sensitive:
        synonyms = [Synonym(one.name, None, one.source) for one in synonyms]
    return ConfigEntry(
        name=name,
        value=None if sensitive else value,
        source=synonyms[0].source if synonyms else Source.DEFAULT,
        # Kafka calls everything read-only that is not in its list by this very name.
        read_only=name not in BROKER_OPTIONS or BROKER_OPTIONS[name].change is Change.READ_ONLY,
        is_sensitive=sensitive,
        type=option.type.code if option else UNKNOWN_TYPE,
        documentation=option.doc if option else None,
        synonyms=tuple(synonyms),
    )


def _broker_synonyms(name: str, layers: Sequence[Layer]) -> Iterator[Synonym]:
    """Kafka lists nothing before the first that has the very name that is described."""
    begun = False
    for synonym in _all_synonyms(_same_option(name), layers):
        begun = begun or synonym.name == name
        if begun:
            yield synonym


def _all_synonyms(names: Sequence[str], layers: Sequence[Layer]) -> Iterator[Synonym]:
    for layer in layers:
        for name in names:
            if name in layer.properties:
                yield Synonym(name, layer.properties[name], layer.source)
    for name in names:
        option = BROKER_OPTIONS.get(name)
        if option and option.default_text is not None:
            yield Synonym(name, option.default_text, Source.DEFAULT)


def _same_option(name: str) -> list[str]:
    if of_listener := listener_name(name):
        return [name, of_listener.option.name]
    return [option.name for option in SYNONYMS[name]] if name in SYNONYMS else [name]
