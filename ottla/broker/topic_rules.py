"""What the controller must know of this broker's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ottla.broker.policies import topic_policy
from ottla.broker.ports import Randomness
from ottla.config import controller_options, general_options
from ottla.config.overrides import Overrides
from ottla.config.refusal import ConfigRefused
from ottla.controller.term import ControllerSettings
from ottla.controller.topics import TopicRules
from ottla.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from ottla.broker.broker import Broker


def topic_rules(overrides: Overrides, randomness: Randomness) -> TopicRules:
    def check(topic: str, configs: Mapping[str, str]) -> None:
        try:
            overrides.replace_topic(list(configs.items()))
        except ConfigRefused as refused:
            raise KafkaError(ErrorCode.INVALID_CONFIG, str(refused)) from refused

    return TopicRules(
        check_config=check,
        check_policy=topic_policy(overrides.broker),
        default_partitions=lambda: overrides.broker[general_options.NUM_PARTITIONS],
        default_replication_factor=(
            lambda: overrides.broker[general_options.DEFAULT_REPLICATION_FACTOR]
        ),
        new_topic_id=lambda: randomness.bytes(16),
        draw=randomness.below,
    )


def controller_settings(broker: Broker) -> ControllerSettings:
    config = broker.config
    return ControllerSettings(
        broker_id=broker.id,
        inter_broker_listener=config.inter_broker_listener,
        unclean_allowed=broker.settings.unclean_allowed,
        new_topic_id=broker.services.topic_rules.new_topic_id,
        delete_topic_enable=config[general_options.DELETE_TOPIC_ENABLE],
        auto_leader_rebalance_enable=config[controller_options.AUTO_LEADER_REBALANCE_ENABLE],
        leader_imbalance_per_broker_percentage=config[
            controller_options.LEADER_IMBALANCE_PER_BROKER_PERCENTAGE
        ],
        leader_imbalance_check_interval_seconds=config[
            controller_options.LEADER_IMBALANCE_CHECK_INTERVAL_SECONDS
        ],
    )
