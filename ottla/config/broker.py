"""Every option of brokers, in one index."""

from __future__ import annotations

from ottla.config import (
    cleaner_options,
    controller_options,
    general_options,
    group_options,
    kraft_options,
    log_options,
    network_options,
    ottla_options,
    remote_options,
    replication_options,
    sasl_options,
    security_options,
    share_group_options,
    throttle_options,
    transaction_options,
    zookeeper_options,
)
from ottla.config.option import AnyOption, declared

BROKER_OPTIONS: dict[str, AnyOption] = declared(
    vars(general_options),
    vars(network_options),
    vars(log_options),
    vars(cleaner_options),
    vars(replication_options),
    vars(controller_options),
    vars(zookeeper_options),
    vars(group_options),
    vars(transaction_options),
    vars(security_options),
    vars(sasl_options),
    vars(share_group_options),
    vars(kraft_options),
    vars(remote_options),
    vars(ottla_options),
)

# Set only while the broker runs; as in Kafka they are not described unless they are set.
DYNAMIC_ONLY_OPTIONS: dict[str, AnyOption] = declared(vars(throttle_options))
ALL_BROKER_OPTIONS = BROKER_OPTIONS | DYNAMIC_ONLY_OPTIONS

# The same option in several units: of those that are set the first counts.
SYNONYMS: dict[str, tuple[AnyOption, ...]] = {
    option.name: tuple(
        other
        for other in BROKER_OPTIONS.values()
        if other is option or (option.per_topic and other.per_topic == option.per_topic)
    )
    for option in BROKER_OPTIONS.values()
}
