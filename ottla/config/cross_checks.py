"""What options must keep with each other, whatever each is alone: Kafka's rules at start-up."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.config.cleaner_options import LOG_CLEANER_DEDUPE_BUFFER_SIZE, LOG_CLEANER_THREADS
from ottla.config.general_options import (
    BROKER_ID,
    BROKER_ID_GENERATION_ENABLE,
    NODE_ID,
    RESERVED_BROKER_MAX_ID,
)
from ottla.config.group_options import (
    GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS,
    GROUP_CONSUMER_MAX_HEARTBEAT_INTERVAL_MS,
    GROUP_CONSUMER_MAX_SESSION_TIMEOUT_MS,
    GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS,
    GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS,
    GROUP_CONSUMER_SESSION_TIMEOUT_MS,
    GROUP_COORDINATOR_REBALANCE_PROTOCOLS,
    OFFSETS_COMMIT_REQUIRED_ACKS,
    OFFSETS_TOPIC_REPLICATION_FACTOR,
)
from ottla.config.kraft_options import PROCESS_ROLES
from ottla.config.log_options import LOG_DIRS, LOG_MESSAGE_FORMAT_VERSION
from ottla.config.network_options import (
    CONNECTION_FAILED_AUTHENTICATION_DELAY_MS,
    CONNECTIONS_MAX_IDLE_MS,
    MAX_CONNECTIONS_PER_IP,
    MAX_CONNECTIONS_PER_IP_OVERRIDES,
    QUEUED_MAX_REQUEST_BYTES,
    SOCKET_REQUEST_MAX_BYTES,
)
from ottla.config.option import Config, Option
from ottla.config.replication_options import (
    INTER_BROKER_PROTOCOL_VERSION,
    REPLICA_FETCH_WAIT_MAX_MS,
    REPLICA_LAG_TIME_MAX_MS,
    REPLICA_SOCKET_TIMEOUT_MS,
)
from ottla.config.units import MIB
from ottla.config.versions import record_magic

# The first may not be above the second.
_NOT_ABOVE: tuple[tuple[Option[int], Option[int]], ...] = (
    (REPLICA_FETCH_WAIT_MAX_MS, REPLICA_SOCKET_TIMEOUT_MS),
    (REPLICA_FETCH_WAIT_MAX_MS, REPLICA_LAG_TIME_MAX_MS),
    (OFFSETS_COMMIT_REQUIRED_ACKS, OFFSETS_TOPIC_REPLICATION_FACTOR),
    (GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS, GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS),
    (GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS, GROUP_CONSUMER_MAX_HEARTBEAT_INTERVAL_MS),
    (GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS, GROUP_CONSUMER_SESSION_TIMEOUT_MS),
    (GROUP_CONSUMER_SESSION_TIMEOUT_MS, GROUP_CONSUMER_MAX_SESSION_TIMEOUT_MS),
)


def cross_mistakes(config: Config) -> Iterator[str]:
    for low, high in _NOT_ABOVE:
        if config[low] > config[high]:
            yield _above(config, low, high)
    yield from _identity(config)
    yield from _connections(config)
    yield from _logs(config)
    if config[OFFSETS_COMMIT_REQUIRED_ACKS] < -1:
        acks = config[OFFSETS_COMMIT_REQUIRED_ACKS]
        yield f"{OFFSETS_COMMIT_REQUIRED_ACKS.name}: {acks} is not allowed; expected at least -1"
    if "classic" not in config[GROUP_COORDINATOR_REBALANCE_PROTOCOLS]:
        yield f"{GROUP_COORDINATOR_REBALANCE_PROTOCOLS.name}: classic is missing; add it"


def _identity(config: Config) -> Iterator[str]:
    broker_id, highest = config[BROKER_ID], config[RESERVED_BROKER_MAX_ID]
    if config[BROKER_ID_GENERATION_ENABLE]:
        if not -1 <= broker_id <= highest:
            yield (
                f"{BROKER_ID.name}: {broker_id} is not allowed; expected -1 for a new number, or "
                f"0 to {RESERVED_BROKER_MAX_ID.name} ({highest})"
            )
    elif broker_id < 0:
        yield (
            f"{BROKER_ID.name}: {broker_id} is not allowed; expected 0 or more while "
            f"{BROKER_ID_GENERATION_ENABLE.name} is false"
        )
    if config[NODE_ID] != broker_id:
        yield f"{NODE_ID.name}: {config[NODE_ID]} is not {BROKER_ID.name} ({broker_id}); set one"
    if config[PROCESS_ROLES]:
        roles = ",".join(config[PROCESS_ROLES])
        yield (
            f"{PROCESS_ROLES.name}: {roles!r} is for KRaft clusters; leave it out, and with it "
            "the controller.* options and listeners"
        )


def _connections(config: Config) -> Iterator[str]:
    queued, largest = config[QUEUED_MAX_REQUEST_BYTES], config[SOCKET_REQUEST_MAX_BYTES]
    if 0 < queued < largest:
        yield _above(config, SOCKET_REQUEST_MAX_BYTES, QUEUED_MAX_REQUEST_BYTES)
    delay, idle = config[CONNECTION_FAILED_AUTHENTICATION_DELAY_MS], config[CONNECTIONS_MAX_IDLE_MS]
    if 0 < idle <= delay:
        yield (
            f"{CONNECTION_FAILED_AUTHENTICATION_DELAY_MS.name}: {delay} is not allowed; expected "
            f"less than {CONNECTIONS_MAX_IDLE_MS.name} ({idle})"
        )
    if config[MAX_CONNECTIONS_PER_IP] == 0 and not config[MAX_CONNECTIONS_PER_IP_OVERRIDES]:
        yield (
            f"{MAX_CONNECTIONS_PER_IP.name}: 0 lets nobody in; expected at least 1, or "
            f"{MAX_CONNECTIONS_PER_IP_OVERRIDES.name}"
        )


def _logs(config: Config) -> Iterator[str]:
    if not any(part.strip() for part in config[LOG_DIRS].split(",")):
        yield f"{LOG_DIRS.name}: {config[LOG_DIRS]!r} is empty; expected at least one directory"
    size, threads = config[LOG_CLEANER_DEDUPE_BUFFER_SIZE], config[LOG_CLEANER_THREADS]
    if size <= threads * MIB:
        yield (
            f"{LOG_CLEANER_DEDUPE_BUFFER_SIZE.name}: {size} is not allowed; expected more than "
            f"1 MiB for each of {LOG_CLEANER_THREADS.name} ({threads})"
        )
    message, broker = config[LOG_MESSAGE_FORMAT_VERSION], config[INTER_BROKER_PROTOCOL_VERSION]
    if record_magic(message) > record_magic(broker):
        yield (
            f"{LOG_MESSAGE_FORMAT_VERSION.name}: {message} is newer than "
            f"{INTER_BROKER_PROTOCOL_VERSION.name} ({broker}) can replicate"
        )


def _above(config: Config, low: Option[int], high: Option[int]) -> str:
    return (
        f"{low.name}: {config[low]} is not allowed; expected at most {high.name} ({config[high]})"
    )
