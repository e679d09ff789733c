"""Where Kafka keeps what in the tree (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
CLUSTER_ID = "/cluster/id"
FEATURE = "/feature"
LATEST_PRODUCER_ID_BLOCK = "/latest_producer_id_block"
BROKER_IDS = "/brokers/ids"
BROKER_SEQUENCE_ID = "/brokers/seqid"  # a write's version is the next number for a broker
TOPICS = "/brokers/topics"
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_REPLICA_ELECTION = "/admin/preferred_replica_election"
CONSUMERS = "/consumers"

# Folders of sequential nodes, and what a new node's path begins with.
CONFIG_CHANGES = "/config/changes"
CONFIG_CHANGE = f"{CONFIG_CHANGES}/config_change_"
ISR_CHANGES = "/isr_change_notification"
ISR_CHANGE = f"{ISR_CHANGES}/isr_change_"
LOG_DIR_EVENTS = "/log_dir_event_notification"
LOG_DIR_EVENT = f"{LOG_DIR_EVENTS}/log_dir_event_"

CONFIG_TYPES = ("topics", "clients", "users", "brokers", "ips")
DEFAULT_ENTITY = "<default>"
_SANITIZED_TYPES = ("users", "clients")  # whose names may hold any character

# In Kafka's order; whoever starts first creates them, with their parents.
PERSISTENT_ROOTS = (
    CONSUMERS,
    BROKER_IDS,
    TOPICS,
    CONFIG_CHANGES,
    DELETE_TOPICS,
    BROKER_SEQUENCE_ID,
    ISR_CHANGES,
    LATEST_PRODUCER_ID_BLOCK,
    LOG_DIR_EVENTS,
    *(f"/config/{entity_type}" for entity_type in CONFIG_TYPES),
)


def broker(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    return f"{TOPICS}/{name}"


def partitions(topic_name: str) -> str:
    return f"{TOPICS}/{topic_name}/partitions"


def partition(topic_name: str, index: int) -> str:
    return f"{TOPICS}/{topic_name}/partitions/{index}"


def partition_state(topic_name: str, index: int) -> str:
    return f"{TOPICS}/{topic_name}/partitions/{index}/state"


def delete_topic(name: str) -> str:
    return f"{DELETE_TOPICS}/{name}"


def consumer_offset(*, group: str, topic_name: str, index: int) -> str:
    return f"{CONSUMERS}/{group}/offsets/{topic_name}/{index}"


def config_type(entity_type: str) -> str:
    return f"/config/{entity_type}"


def config(entity_path: str) -> str:
    """The node of an entity that is given as a change names it, like `topics/orders`."""
    return f"/config/{entity_path}"


def entity_path(names: Mapping[str, str | None]) -> str:
    """`{"users": "alice", "clients": None}` is `users/alice/clients/<default>`."""
    return "/".join(
        f"{entity_type}/{_name_in_path(entity_type, name)}" for entity_type, name in names.items()
    )


def entity_names(path: str) -> dict[str, str | None]:
    """What `entity_path` was given; names without a type, or a type without a name, are dropped."""
    parts = path.split("/")
    return {
        entity_type: _name_of_path(entity_type, name)
        for entity_type, name in zip(parts[::2], parts[1::2], strict=False)
    }


def sanitize(name: str) -> str:
    """Percent signs for all but letters, digits, `.`, `_` and `-`, as users and clients need."""
    return re.sub(r"[^A-Za-z0-9._-]", _percent, name)


def desanitize(name: str) -> str:
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes.fromhex(m[1].decode()), name.encode())
    return raw.decode(errors="replace")


def is_node_name(name: str) -> bool:
    """Whether a node can be called so; slashes are for `sanitize` to take out."""
    return name not in ("", ".", "..")


def sequence_number(name: str) -> int:
    """The ten digits at the end of a sequential node's name or path."""
    return int(name[-10:])


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode())


def _name_in_path(entity_type: str, name: str | None) -> str:
    if name is None:
        return DEFAULT_ENTITY
    return sanitize(name) if entity_type in _SANITIZED_TYPES else name


def _name_of_path(entity_type: str, name: str) -> str | None:
    if name == DEFAULT_ENTITY:
        return None
    return desanitize(name) if entity_type in _SANITIZED_TYPES else name
