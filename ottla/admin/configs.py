"""The configuration of topics, brokers and brokers' loggers: what holds, where from, changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from ottla.admin.cluster import Cluster
from ottla.admin.refusals import refusal
from ottla.admin.topics import unknown_topic
from ottla.protocol.apis.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from ottla.protocol.apis.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError


class ResourceType(IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8


class Resource(NamedTuple):
    """Whose configuration it is. A broker without a name stands for all brokers' default."""

    type: ResourceType
    name: str

    @property
    def broker_id(self) -> int | None:
        """The only broker that can answer, if it is not any."""
        is_broker = self.type is not ResourceType.TOPIC and self.name != ""
        return int(self.name) if is_broker else None

    def __str__(self) -> str:
        if self.type is ResourceType.BROKER and not self.name:
            return "all brokers"
        return f"{self.type.name.lower().replace('_', ' ')} {self.name}"


class ConfigSource(IntEnum):
    """Where a value comes from."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8

    @classmethod
    def _missing_(cls, value: object) -> ConfigSource:
        return cls.UNKNOWN  # of a newer broker


@dataclass(frozen=True, slots=True)
class Synonym:
    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """`value` is None where it is secret or not set."""

    name: str
    value: str | None
    source: ConfigSource
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[Synonym, ...]


class Operation(IntEnum):
    """What is done to a value; the last two are for lists alone."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    operation: Operation
    name: str
    value: str | None = None


async def describe(
    cluster: Cluster, resources: Sequence[Resource], names: Sequence[str] | None = None
) -> dict[Resource, tuple[ConfigEntry, ...] | KafkaError]:
    """Every value with its synonyms, by name; only those in `names`, if there are any."""
    results: dict[Resource, tuple[ConfigEntry, ...] | KafkaError] = {}
    for broker_id, asked in _by_broker(resources).items():
        wanted = [
            DescribeConfigsResource(
                resource_type=each.type,
                resource_name=each.name,
                configuration_keys=list(names) if names else None,
            )
            for each in asked
        ]
        request = DescribeConfigsRequest(resources=wanted, include_synonyms=True)
        answer = await _ask(cluster, broker_id, request)
        for told in answer.results:
            resource = Resource(ResourceType(told.resource_type), told.resource_name)
            if told.error_code != ErrorCode.NONE:
                results[resource] = await _refusal(
                    cluster, resource, told.error_code, told.error_message
                )
            else:
                results[resource] = tuple(sorted(map(_entry, told.configs), key=_name))
    return {resource: results[resource] for resource in resources}


async def alter(
    cluster: Cluster, resource: Resource, changes: Sequence[Change], *, validate_only: bool = False
) -> None:
    """All of the changes or, with a `KafkaError`, none."""
    configs = [
        AlterableConfig(name=each.name, config_operation=each.operation, value=each.value)
        for each in changes
    ]
    altered = AlterConfigsResource(
        resource_type=resource.type, resource_name=resource.name, configs=configs
    )
    request = IncrementalAlterConfigsRequest(resources=[altered], validate_only=validate_only)
    if resource.broker_id is None:
        answer = await cluster.ask_any(request, IncrementalAlterConfigsResponse)
    else:
        answer = await cluster.ask_broker(
            resource.broker_id, request, IncrementalAlterConfigsResponse
        )
    for told in answer.responses:
        if told.error_code != ErrorCode.NONE:
            raise await _refusal(cluster, resource, told.error_code, told.error_message)


async def _ask(
    cluster: Cluster, broker_id: int | None, request: DescribeConfigsRequest
) -> DescribeConfigsResponse:
    # Version 0 does not say where a value comes from.
    if broker_id is None:
        return await cluster.ask_any(request, DescribeConfigsResponse, at_least=1)
    return await cluster.ask_broker(broker_id, request, DescribeConfigsResponse, at_least=1)


async def _refusal(
    cluster: Cluster, resource: Resource, code: int, message: str | None
) -> KafkaError:
    unknown = code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if unknown and resource.type is ResourceType.TOPIC:
        return await unknown_topic(cluster, resource.name)
    return refusal(code, message)


def _by_broker(resources: Sequence[Resource]) -> dict[int | None, list[Resource]]:
    by_broker: dict[int | None, list[Resource]] = {}
    for resource in resources:
        by_broker.setdefault(resource.broker_id, []).append(resource)
    return by_broker


def _entry(told: DescribeConfigsResourceResult) -> ConfigEntry:
    synonyms = [Synonym(each.name, each.value, ConfigSource(each.source)) for each in told.synonyms]
    return ConfigEntry(
        name=told.name,
        value=told.value,
        source=ConfigSource(told.config_source),
        is_read_only=told.read_only,
        is_sensitive=told.is_sensitive,
        synonyms=tuple(synonyms),
    )


def _name(entry: ConfigEntry) -> str:
    return entry.name
