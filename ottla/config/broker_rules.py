"""What may be changed on a running broker (KIP-226), by how much, and for whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ottla.config.broker import ALL_BROKER_OPTIONS
from ottla.config.broker_config import BrokerConfig
from ottla.config.cleaner_options import LOG_CLEANER_THREADS
from ottla.config.general_options import BACKGROUND_THREADS
from ottla.config.log_options import NUM_RECOVERY_THREADS_PER_DATA_DIR
from ottla.config.names import find_option
from ottla.config.network_options import (
    ADVERTISED_LISTENERS,
    LISTENER_SECURITY_PROTOCOL_MAP,
    LISTENERS,
    NUM_IO_THREADS,
    NUM_NETWORK_THREADS,
)
from ottla.config.option import Change, ConfigError, Option
from ottla.config.refusal import INVALID_CONFIG, INVALID_REQUEST, ConfigRefused
from ottla.config.replication_options import NUM_REPLICA_FETCHERS
from ottla.config.security_options import (
    SSL_KEY_PASSWORD,
    SSL_KEYSTORE_CERTIFICATE_CHAIN,
    SSL_KEYSTORE_KEY,
    SSL_KEYSTORE_LOCATION,
    SSL_KEYSTORE_PASSWORD,
    SSL_KEYSTORE_TYPE,
    SSL_TRUSTSTORE_CERTIFICATES,
    SSL_TRUSTSTORE_LOCATION,
    SSL_TRUSTSTORE_PASSWORD,
    SSL_TRUSTSTORE_TYPE,
)

_THREADS: tuple[Option[int], ...] = (
    NUM_IO_THREADS,
    NUM_NETWORK_THREADS,
    NUM_REPLICA_FETCHERS,
    NUM_RECOVERY_THREADS_PER_DATA_DIR,
    BACKGROUND_THREADS,
    LOG_CLEANER_THREADS,
)
# Kafka opens its listeners anew for these; here a start does.
_ONLY_AT_START = tuple(
    option.name for option in (LISTENERS, ADVERTISED_LISTENERS, LISTENER_SECURITY_PROTOCOL_MAP)
)
_ONLY_OF_A_LISTENER = tuple(
    option.name
    for option in (
        SSL_KEY_PASSWORD,
        SSL_KEYSTORE_CERTIFICATE_CHAIN,
        SSL_KEYSTORE_KEY,
        SSL_KEYSTORE_LOCATION,
        SSL_KEYSTORE_PASSWORD,
        SSL_KEYSTORE_TYPE,
        SSL_TRUSTSTORE_CERTIFICATES,
        SSL_TRUSTSTORE_LOCATION,
        SSL_TRUSTSTORE_PASSWORD,
        SSL_TRUSTSTORE_TYPE,
    )
)


def read_only_names(names: Iterable[str]) -> list[str]:
    """A listener's own options may all change, as in Kafka, which opens its listeners anew."""
    return [
        name
        for name in names
        if name in ALL_BROKER_OPTIONS and ALL_BROKER_OPTIONS[name].change is Change.READ_ONLY
    ]


def per_broker_names(names: Iterable[str]) -> list[str]:
    return [
        name
        for name in names
        if (option := find_option(name)) and option.change is Change.PER_BROKER
    ]


def unprefixed_names(names: Iterable[str]) -> list[str]:
    return [name for name in names if name in _ONLY_OF_A_LISTENER]


def listening_names(names: Iterable[str]) -> list[str]:
    return [name for name in names if name in _ONLY_AT_START]


def check_names(names: Iterable[str], *, cluster_wide: bool) -> None:
    """Names that nobody knows pass, as in Kafka: they may be a plugged-in class's own."""
    wanted = list(names)
    _refuse(read_only_names(wanted), "cannot be changed while the broker runs: {}")
    _refuse(
        unprefixed_names(wanted),
        "can be changed for one listener only, as listener.name.<listener>.<option>: {}",
    )
    if cluster_wide:
        _refuse(
            per_broker_names(wanted), "cannot be set for all brokers at once, name the broker: {}"
        )


def check_listening(*, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    names = listening_names(name for name, text in after.items() if before.get(name) != text)
    if names:
        raise ConfigRefused(
            INVALID_CONFIG,
            "listeners do not change while the broker runs: set them in server.properties and "
            f"start it again: {', '.join(names)}",
        )


def check_secrets(*, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Kafka stores secrets encrypted with password.encoder.secret, and refuses them without."""
    changed = [name for name, text in after.items() if before.get(name) != text]
    secret = [name for name in changed if (option := find_option(name)) and option.sensitive]
    if secret:
        raise ConfigRefused(
            INVALID_CONFIG,
            "secrets are not written to the metadata store, "
            f"set them in server.properties: {', '.join(secret)}",
        )


def check_step(before: BrokerConfig, properties: Mapping[str, str]) -> BrokerConfig:
    """The configuration after a change, or INVALID_REQUEST with every mistake."""
    try:
        after = BrokerConfig.load(properties)
    except ConfigError as error:
        raise ConfigRefused(INVALID_REQUEST, str(error)) from error
    mistakes = [mistake for option in _THREADS if (mistake := _thread_step(before, after, option))]
    if mistakes:
        raise ConfigRefused(INVALID_REQUEST, "\n".join(mistakes))
    return after


def _thread_step(before: BrokerConfig, after: BrokerConfig, option: Option[int]) -> str | None:
    """Thread counts at most double or halve, so that a slip of the pen stays small."""
    old, new = before[option], after[option]
    least, most = max(1, old // 2), 2 * old
    if new == old or least <= new <= most:
        return None
    return f"{option.name}: {new} is not allowed; from {old} it can go to {least} to {most}"


def _refuse(names: list[str], reason: str) -> None:
    if names:
        raise ConfigRefused(INVALID_REQUEST, reason.format(", ".join(names)))
