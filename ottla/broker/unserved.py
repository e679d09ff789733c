"""What a configuration asks for that this release does not do: said at start, never ignored."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.config.broker_config import BrokerConfig
from ottla.config.cleaner_options import (
    LOG_CLEANER_IO_BUFFER_LOAD_FACTOR,
    LOG_CLEANER_IO_BUFFER_SIZE,
    LOG_CLEANER_THREADS,
)
from ottla.config.general_options import (
    ALTER_LOG_DIRS_REPLICATION_QUOTA_WINDOW_NUM,
    ALTER_LOG_DIRS_REPLICATION_QUOTA_WINDOW_SIZE_SECONDS,
    BACKGROUND_THREADS,
)
from ottla.config.listeners import SecurityProtocol
from ottla.config.log_options import NUM_RECOVERY_THREADS_PER_DATA_DIR
from ottla.config.network_options import (
    CONTROL_PLANE_LISTENER_NAME,
    LISTENERS,
    NUM_IO_THREADS,
    NUM_NETWORK_THREADS,
    QUEUED_MAX_REQUESTS,
)
from ottla.config.option import AnyOption, ConfigError
from ottla.config.security_options import AUTHORIZER_CLASS_NAME
from ottla.config.zookeeper_options import ZOOKEEPER_CONNECT

_ONE_LOOP = "one loop, without threads, serves all connections and requests"
_ONE_CLEANING = "one log at a time is compacted, in a process of its own"
_OWN_BUFFERS = "the cleaning process sizes its own buffers"
_NO_SAMPLES = "moves between log directories are throttled by the second, without samples"
_WITHOUT_EFFECT: Mapping[AnyOption, str] = {
    QUEUED_MAX_REQUESTS: f"{_ONE_LOOP}, and none waits in a queue; see queued.max.request.bytes",
    NUM_IO_THREADS: _ONE_LOOP,
    NUM_NETWORK_THREADS: _ONE_LOOP,
    NUM_RECOVERY_THREADS_PER_DATA_DIR: "all log directories share a fixed number of file threads",
    BACKGROUND_THREADS: "timers of the one loop do that work",
    LOG_CLEANER_THREADS: _ONE_CLEANING,
    LOG_CLEANER_IO_BUFFER_SIZE: _OWN_BUFFERS,
    LOG_CLEANER_IO_BUFFER_LOAD_FACTOR: _OWN_BUFFERS,
    CONTROL_PLANE_LISTENER_NAME: "the controller's requests have no listener of their own",
    ALTER_LOG_DIRS_REPLICATION_QUOTA_WINDOW_NUM: _NO_SAMPLES,
    ALTER_LOG_DIRS_REPLICATION_QUOTA_WINDOW_SIZE_SECONDS: _NO_SAMPLES,
}


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
    warnings = [
        f"{option.name} has no effect here: {why}"
        for option, why in _WITHOUT_EFFECT.items()
        if config[option] != option.default
    ]
    if config[ZOOKEEPER_CONNECT]:
        warnings.append(
            f"{ZOOKEEPER_CONNECT.name} is not used yet: the cluster is this broker, and its "
            "metadata is in the file ottla.metadata.path"
        )
    return warnings
