"""Whose configuration a request means, and how it is changed: for both ways of altering it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import partial
from typing import NamedTuple

from ottla.config.alterations import Alteration
from ottla.config.overrides import Asked
from ottla.config.refusal import ConfigRefused
from ottla.handlers.call import Call
from ottla.protocol.errors import ErrorCode, KafkaError

Values = Mapping[str, str]


class ResourceType(IntEnum):
    """As numbered in the requests."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16  # known, and refused


class ConfigTarget(NamedTuple):
    """An entity of the store; the two functions judge, and make its new values."""

    entity: str
    replace: Callable[[Asked], dict[str, str]]
    alter: Callable[[Sequence[Alteration], Values], dict[str, str]]


def find_target(call: Call, resource_type: int, name: str) -> ConfigTarget:
    overrides = call.services.overrides
    if resource_type == ResourceType.TOPIC:
        check_topic(call, name)
        alter = partial(overrides.alter_topic, name)
        return ConfigTarget(f"topics/{name}", overrides.replace_topic, alter)
    if resource_type != ResourceType.BROKER:
        detail = f"resources of type {resource_type} cannot be altered; topics (2), brokers (4) can"
        raise KafkaError(ErrorCode.INVALID_REQUEST, detail)
    if not name:
        return ConfigTarget(
            "brokers/<default>", overrides.replace_all_brokers, overrides.alter_all_brokers
        )
    check_broker(call, name)
    return ConfigTarget(
        f"brokers/{name}", overrides.replace_this_broker, overrides.alter_this_broker
    )


def check_topic(call: Call, name: str) -> None:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "topics have no common default; name a topic")
    if name not in call.services.metadata.image.topics:
        detail = f"The topic '{name}' does not exist."
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, detail)


def check_broker(call: Call, name: str) -> None:
    """A broker's own configuration is its own business: no other can judge it."""
    own = call.services.broker_id
    if name == str(own):
        return
    if not name.removeprefix("-").isdecimal():
        detail = f"a broker's id is a number, not {name!r}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, detail)
    detail = f"this is broker {own}; ask broker {name} itself"
    raise KafkaError(ErrorCode.INVALID_REQUEST, detail)


def refuse_repeated(resources: Sequence[tuple[int, str]], resource: tuple[int, str]) -> None:
    if resources.count(resource) > 1:
        detail = "Each resource must appear at most once."
        raise KafkaError(ErrorCode.INVALID_REQUEST, detail)


async def change_configs(
    call: Call,
    target: ConfigTarget,
    edit: Callable[[Values], dict[str, str]],
    asked: Mapping[str, str | None],
    *,
    validate_only: bool,
) -> None:
    """Judged by the rules, then by the operator's policy, then written; every broker hears."""
    configs = call.services.configs
    try:
        edit(await configs.read(target.entity))
        await call.services.check_alteration(target.entity, asked)
        if not validate_only:
            await configs.change(target.entity, edit)
    except ConfigRefused as refused:
        raise refusal(refused) from refused


def refusal(refused: ConfigRefused) -> KafkaError:
    return KafkaError(ErrorCode(refused.code), refused.reason)
