"""A broker's static configuration: parsed whole, checked whole, all mistakes told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ottla.config.broker import ALL_BROKER_OPTIONS, BROKER_OPTIONS
from ottla.config.cross_checks import cross_mistakes
from ottla.config.general_options import BROKER_ID, NODE_ID
from ottla.config.listeners import (
    Endpoint,
    SecurityProtocol,
    parse_listeners,
    parse_protocol_map,
    shared_ports,
)
from ottla.config.log_options import LOG_DIRS
from ottla.config.names import LISTENER_PREFIX, find_option, listener_name, nearest
from ottla.config.network_options import (
    ADVERTISED_LISTENERS,
    CONTROL_PLANE_LISTENER_NAME,
    INTER_BROKER_LISTENER_NAME,
    LISTENER_SECURITY_PROTOCOL_MAP,
    LISTENERS,
    SECURITY_INTER_BROKER_PROTOCOL,
)
from ottla.config.option import AnyOption, Config, ConfigError, parse_values
from ottla.config.sasl_options import SASL_ENABLED_MECHANISMS, SASL_MECHANISM_INTER_BROKER_PROTOCOL

_CLASSES_OWN = ("rsm.config.", "rlmm.config.")  # what a plugged-in class reads is not ours to know


class BrokerConfig(Config):
    """What server.properties and the other sources say; see overrides.py for what runs."""

    __slots__ = ("advertised_listeners", "listeners", "properties", "warnings")

    def __init__(self, properties: Mapping[str, str]) -> None:
        """Raises one ConfigError with every mistake."""
        self.properties = _both_ids(properties)
        values, mistakes = parse_values(ALL_BROKER_OPTIONS, self.properties)
        super().__init__(ALL_BROKER_OPTIONS, values)
        mistakes += _listener_mistakes(self.properties)
        mistakes += cross_mistakes(self)
        try:
            self.listeners, self.advertised_listeners = _endpoints(self)
            mistakes += _endpoint_mistakes(self)
        except ConfigError as error:
            mistakes += error.mistakes
        if mistakes:
            raise ConfigError(*dict.fromkeys(mistakes))
        self.warnings = tuple(_unknown(self.properties))

    @classmethod
    def load(cls, properties: Mapping[str, str]) -> BrokerConfig:
        return cls(properties)

    @property
    def log_dirs(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in self[LOG_DIRS].split(",") if part.strip())

    @property
    def inter_broker_listener(self) -> str:
        return self[INTER_BROKER_LISTENER_NAME].upper()

    @property
    def inter_broker_protocol(self) -> SecurityProtocol:
        protocols = parse_protocol_map(self[LISTENER_SECURITY_PROTOCOL_MAP])
        return protocols[self.inter_broker_listener]

    def has_own(self, listener: str, option: AnyOption) -> bool:
        """Whether it stands there for this listener, whatever the broker's value is."""
        return f"listener.name.{listener.lower()}.{option.name}" in self.properties

    def of_listener(self, listener: str, *, mechanism: str | None = None) -> Config:
        """The configuration as one listener sees it, or one SASL mechanism on it."""
        values = dict(self._set)
        for name, text in self.properties.items():
            own = listener_name(name)
            if own and own.listener == listener.lower() and own.mechanism in (None, mechanism):
                # The mechanism's word outweighs the listener's, whichever stands first.
                if own.mechanism is None and _has_mechanisms_own(self.properties, name, mechanism):
                    continue
                values[own.option.name] = own.option.parse(text)
        return Config(ALL_BROKER_OPTIONS, values)


def _has_mechanisms_own(properties: Mapping[str, str], name: str, mechanism: str | None) -> bool:
    match = LISTENER_PREFIX.fullmatch(name)
    assert match is not None  # whoever asks has taken the name apart
    return f"listener.name.{match[1]}.{mechanism}.{match[2]}" in properties


def _both_ids(properties: Mapping[str, str]) -> dict[str, str]:
    """broker.id and node.id are one; Kafka files either under both names."""
    both = dict(properties)
    for given, other in ((BROKER_ID, NODE_ID), (NODE_ID, BROKER_ID)):
        if given.name in properties:
            both.setdefault(other.name, properties[given.name])
    return both


def _listener_mistakes(properties: Mapping[str, str]) -> Iterator[str]:
    for name, text in properties.items():
        if own := listener_name(name):
            try:
                own.option.parse(text)
            except ConfigError as error:
                yield f"{name.removesuffix(own.option.name)}{error}"


def _endpoints(config: Config) -> tuple[tuple[Endpoint, ...], tuple[Endpoint, ...]]:
    protocols = parse_protocol_map(config[LISTENER_SECURITY_PROTOCOL_MAP])
    both: list[tuple[Endpoint, ...]] = []
    mistakes: list[str] = []
    for option in (LISTENERS, ADVERTISED_LISTENERS):
        try:
            both.append(parse_listeners(config[option], protocols, option=option.name))
        except ConfigError as error:
            mistakes += error.mistakes
    if mistakes:
        # Without a list of their own the advertised repeat the mistakes of the others.
        own = config.is_set(ADVERTISED_LISTENERS)
        raise ConfigError(*(m for m in mistakes if own or not m.startswith("advertised")))
    return both[0], both[1]


def _endpoint_mistakes(config: BrokerConfig) -> Iterator[str]:
    if not config.listeners:
        yield f"{LISTENERS.name}: {config[LISTENERS]!r} is empty; expected NAME://host:port"
        return
    yield from shared_ports(config.listeners)
    names = [endpoint.listener for endpoint in config.listeners]
    advertised = [endpoint.listener for endpoint in config.advertised_listeners]
    for endpoint in config.advertised_listeners:
        if endpoint.listener not in names:
            yield f"{ADVERTISED_LISTENERS.name}: {endpoint} is not among {LISTENERS.name}; add it"
        if endpoint.host == "0.0.0.0":
            yield (
                f"{ADVERTISED_LISTENERS.name}: nobody can connect to {endpoint}; name the address"
            )
    yield from _inter_broker_mistakes(config, advertised)
    yield from _control_plane_mistakes(config, [name for name in names if name in advertised])


def _control_plane_mistakes(config: BrokerConfig, names: list[str]) -> Iterator[str]:
    control = (config[CONTROL_PLANE_LISTENER_NAME] or "").upper()
    if not control:
        return
    if control not in names:
        yield f"{CONTROL_PLANE_LISTENER_NAME.name}: {control} is not among {', '.join(names)}"
    elif control == config.inter_broker_listener:
        yield (
            f"{CONTROL_PLANE_LISTENER_NAME.name}: {control} is the listener between brokers too; "
            "expected another"
        )


def _inter_broker_mistakes(config: BrokerConfig, advertised: list[str]) -> Iterator[str]:
    named = config.is_set(INTER_BROKER_LISTENER_NAME)
    option: AnyOption = INTER_BROKER_LISTENER_NAME if named else SECURITY_INTER_BROKER_PROTOCOL
    name = config.inter_broker_listener
    if named and config.is_set(SECURITY_INTER_BROKER_PROTOCOL):
        yield (
            f"{INTER_BROKER_LISTENER_NAME.name} and {SECURITY_INTER_BROKER_PROTOCOL.name} "
            f"are both set ({name}, {config[SECURITY_INTER_BROKER_PROTOCOL]}); set one"
        )
    if name not in advertised:
        yield f"{option.name}: {name} is not an advertised listener ({', '.join(advertised)})"
        return
    mechanism = config[SASL_MECHANISM_INTER_BROKER_PROTOCOL]
    enabled = config.of_listener(name)[SASL_ENABLED_MECHANISMS]
    if config.inter_broker_protocol.uses_sasl and mechanism not in enabled:
        yield (
            f"{SASL_MECHANISM_INTER_BROKER_PROTOCOL.name}: {mechanism} is not among "
            f"{SASL_ENABLED_MECHANISMS.name} ({','.join(enabled)}); add it"
        )


def _unknown(properties: Mapping[str, str]) -> Iterator[str]:
    for name in properties:
        if find_option(name) is None and not name.startswith(_CLASSES_OWN):
            yield f"{name} is not an option{nearest(name, BROKER_OPTIONS)}"
