"""Who this broker is: its id, from the configuration, its log directories, or drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ottla.config.broker_config import BrokerConfig
from ottla.config.general_options import (
    BROKER_ID,
    BROKER_ID_GENERATION_ENABLE,
    RESERVED_BROKER_MAX_ID,
)
from ottla.controller.registration import generate_broker_id
from ottla.storage.directory import DirectoryRefused
from ottla.storage.files import CorruptLog, Disk, DiskFailed
from ottla.storage.properties import META_PROPERTIES, parse_meta_properties
from ottla.store.port import MetadataStore


async def broker_id(config: BrokerConfig, disk: Disk, store: MetadataStore) -> int:
    """Refuses ids that contradict each other, in Kafka's words."""
    stored = _stored_ids(disk, config.log_dirs)
    if len(set(stored.values())) > 1:
        found = ", ".join(f"{path}: {id}" for path, id in stored.items())
        raise DirectoryRefused(
            "Failed to match broker.id across log.dirs. This could happen if multiple brokers "
            "shared a log directory (log.dirs) or partial data was manually copied from another "
            f"broker. Found {found}."
        )
    configured = config[BROKER_ID]
    known = next(iter(stored.values()), None)
    if configured >= 0:
        if known not in (None, configured):
            raise DirectoryRefused(
                f"Configured broker.id {configured} doesn't match stored broker.id {known} in "
                "meta.properties. If you moved your data, make sure your configured broker.id "
                "matches. If you intend to create a new broker, you should remove all data in "
                "your data directories (log.dirs)."
            )
        return configured
    if known is not None:
        return known
    assert config[BROKER_ID_GENERATION_ENABLE], "checked with the configuration"
    return await generate_broker_id(store, reserved_max=config[RESERVED_BROKER_MAX_ID])


def _stored_ids(disk: Disk, log_dirs: Sequence[str]) -> dict[str, int]:
    found = {}
    for folder in log_dirs:
        path = f"{folder}/{META_PROPERTIES}"
        with suppress(
            OSError, DiskFailed, CorruptLog
        ):  # a directory that cannot be used has no say
            if disk.status(path) is not None:
                stored = parse_meta_properties(disk.read(path), path).node_id
                if stored is not None:
                    found[folder] = stored
    return found
