"""What a configuration asks for that this release does not do: said at start, never ignored."""

from __future__ import annotations

from ottla.config.broker_config import BrokerConfig
from ottla.config.listeners import SecurityProtocol
from ottla.config.network_options import LISTENERS
from ottla.config.option import ConfigError
from ottla.config.security_options import AUTHORIZER_CLASS_NAME
from ottla.config.zookeeper_options import ZOOKEEPER_CONNECT


def refuse_unserved(config: BrokerConfig) -> None:
    """Security that is asked for and missing stops the start: nobody may believe it is there."""
    mistakes = [
        f"{LISTENERS.name}: {endpoint} asks for {endpoint.security_protocol.name}, which is not "
        "served yet; expected a PLAINTEXT listener, on loopback or in a network you trust"
        for endpoint in config.listeners
        if endpoint.security_protocol is not SecurityProtocol.PLAINTEXT
    ]
    if config[AUTHORIZER_CLASS_NAME]:
        mistakes.append(
            f"{AUTHORIZER_CLASS_NAME.name}: {config[AUTHORIZER_CLASS_NAME]!r} is not served yet, "
            "and everybody may do everything; leave it out"
        )
    if mistakes:
        raise ConfigError(*mistakes)


def unserved_warnings(config: BrokerConfig) -> list[str]:
    """What is left out without harm."""
    if not config[ZOOKEEPER_CONNECT]:
        return []
    return [
        f"{ZOOKEEPER_CONNECT.name} is not used yet: the cluster is this broker, and its metadata "
        "is in the file ottla.metadata.path"
    ]
