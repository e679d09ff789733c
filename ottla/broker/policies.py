"""An operator's own judges of new topics and of changes of configuration.

An option names a Python class by its dotted path; it is created without arguments. Its method
`validate` raises ValueError to refuse, and the client hears POLICY_VIOLATION with its words. With
any other exception the policy itself has failed: that refuses too, and the log has its stack.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any

from ottla.broker.host_limits import HostLimits
from ottla.config.broker_config import BrokerConfig
from ottla.config.general_options import (
    ALTER_CONFIG_POLICY_CLASS_NAME,
    CREATE_TOPIC_POLICY_CLASS_NAME,
)
from ottla.config.option import ConfigError, Option
from ottla.controller.topics import TopicPlan
from ottla.protocol.errors import ErrorCode, KafkaError

_logger = logging.getLogger(__name__)


def topic_policy(config: BrokerConfig) -> Callable[[TopicPlan], None]:
    """`validate(topic=, partitions=, replication_factor=, replicas=, configs=)`.

    `replicas` is None unless the client itself said which brokers hold the partitions.
    """
    option = CREATE_TOPIC_POLICY_CLASS_NAME
    policy = _load(config, option)

    def check(plan: TopicPlan) -> None:
        if policy is not None:
            _judge(
                policy,
                option,
                topic=plan.name,
                partitions=len(plan.assignment),
                replication_factor=plan.replication_factor,
                replicas=dict(plan.assignment) if plan.is_manual else None,
                configs=dict(plan.configs),
            )

    return check


def alteration_check(
    config: BrokerConfig, hosts: HostLimits
) -> Callable[[str, Mapping[str, str | None]], Awaitable[None]]:
    """`validate(resource_type=, name=, configs=)`: "topics" or "brokers", and what is asked for.

    A value of None is one that shall be unset.
    """
    option = ALTER_CONFIG_POLICY_CLASS_NAME
    policy = _load(config, option)

    async def check(entity: str, asked: Mapping[str, str | None]) -> None:
        await hosts.check(asked)
        if policy is not None:
            resource_type, _, name = entity.partition("/")
            _judge(policy, option, resource_type=resource_type, name=name, configs=dict(asked))

    return check


def _judge(policy: Any, option: Option[str | None], **asked: object) -> None:
    try:
        policy.validate(**asked)
    except ValueError as refused:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, str(refused)) from refused
    except Exception as error:
        kind = type(policy)
        _logger.exception("the policy %s.%s failed", kind.__module__, kind.__qualname__)
        # Kafka gives no words here; ours name nothing but the option.
        detail = f"{option.name}: the policy failed; the broker's log says why"
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, detail) from error


def _load(config: BrokerConfig, option: Option[str | None]) -> Any:
    path = config[option]
    if path is None:
        return None
    module, _, name = path.rpartition(".")
    try:
        policy = getattr(import_module(module), name)()
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{option.name}: {path} cannot be used ({cause}); expected the dotted path of a "
            "Python class with a method validate, package.module.Class"
        ) from error
    if not callable(getattr(policy, "validate", None)):
        raise ConfigError(f"{option.name}: {path} has no method validate")
    return policy
