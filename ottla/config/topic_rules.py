"""What a topic's options must keep together and beside the broker's, and what follows of them."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.config.broker_config import BrokerConfig
from ottla.config.log_options import LOG_RETENTION_MS
from ottla.config.names import nearest
from ottla.config.option import Config, ConfigError, parse_values
from ottla.config.refusal import INVALID_CONFIG, ConfigRefused
from ottla.config.remote_options import REMOTE_LOG_STORAGE_SYSTEM_ENABLE
from ottla.config.topic import (
    BROKER_DEFAULT,
    MAX_COMPACTION_LAG_MS,
    MESSAGE_TIMESTAMP_AFTER_MAX_MS,
    MESSAGE_TIMESTAMP_BEFORE_MAX_MS,
    MESSAGE_TIMESTAMP_DIFFERENCE_MAX_MS,
    MIN_COMPACTION_LAG_MS,
    REMOTE_LOG_COPY_DISABLE,
    REMOTE_LOG_DELETE_ON_DISABLE,
    REMOTE_STORAGE_ENABLE,
    RETENTION_MS,
    TOPIC_OPTIONS,
)
from ottla.config.units import LONG_MAX


def inherited_values(broker: Config) -> dict[str, object]:
    """What a topic has that sets nothing itself."""
    values: dict[str, object] = {name: broker[option] for name, option in BROKER_DEFAULT.items()}
    return values | {RETENTION_MS.name: max(-1, broker[LOG_RETENTION_MS])}


def topic_config(own: Mapping[str, object], inherited: Mapping[str, object]) -> Config:
    """A topic's values: its own, else the broker's, else the defaults."""
    return Config(TOPIC_OPTIONS, own, instead_of_defaults=inherited)


def check_topic_properties(properties: Mapping[str, str | None], broker: BrokerConfig) -> Config:
    """For a new topic or a change: the configuration that results, or INVALID_CONFIG."""
    texts = {name: text for name, text in properties.items() if text is not None}
    if without := [name for name in properties if name not in texts]:
        raise ConfigRefused(INVALID_CONFIG, f"no value given for {', '.join(without)}")
    unknown = [name for name in properties if name not in TOPIC_OPTIONS]
    if unknown:
        hints = (f"{name} is not an option of topics{_hint(name)}" for name in unknown)
        raise ConfigRefused(INVALID_CONFIG, ", ".join(hints))
    values, mistakes = parse_values(TOPIC_OPTIONS, texts)
    config = topic_config(values, inherited_values(broker))
    mistakes += _lag_mistakes(config) + _remote_mistakes(config, broker)
    if mistakes:
        raise ConfigRefused(INVALID_CONFIG, str(ConfigError(*mistakes)))
    return config


def _hint(name: str) -> str:
    """A broker's name for the same thing is the likeliest mistake."""
    for topic_name, option in BROKER_DEFAULT.items():
        if option.name == name:
            return f"; did you mean {topic_name}?"
    return nearest(name, TOPIC_OPTIONS)


def _lag_mistakes(config: Config) -> list[str]:
    least, most = config[MIN_COMPACTION_LAG_MS], config[MAX_COMPACTION_LAG_MS]
    if least <= most:
        return []
    return [
        f"{MIN_COMPACTION_LAG_MS.name}: {least} is not allowed; "
        f"expected at most {MAX_COMPACTION_LAG_MS.name} ({most})"
    ]


def _remote_mistakes(config: Config, broker: BrokerConfig) -> list[str]:
    mistakes = []
    if config[REMOTE_STORAGE_ENABLE] and not broker[REMOTE_LOG_STORAGE_SYSTEM_ENABLE]:
        mistakes.append(
            f"{REMOTE_STORAGE_ENABLE.name}: true is not allowed while the broker's "
            f"{REMOTE_LOG_STORAGE_SYSTEM_ENABLE.name} is false"
        )
    for option in (REMOTE_LOG_COPY_DISABLE, REMOTE_LOG_DELETE_ON_DISABLE):
        if config[option]:
            mistakes.append(f"{option.name}: true is allowed in KRaft clusters only")
    return mistakes


def timestamp_limits_ms(config: Config) -> tuple[int, int]:
    """How far before and after the broker's time a record's may lie.

    The deprecated option for both counts where the newer one is left at no limit.
    """
    difference = config[MESSAGE_TIMESTAMP_DIFFERENCE_MAX_MS]
    before, after = config[MESSAGE_TIMESTAMP_BEFORE_MAX_MS], config[MESSAGE_TIMESTAMP_AFTER_MAX_MS]
    return (
        before if before != LONG_MAX else difference,
        after if after != LONG_MAX else difference,
    )
