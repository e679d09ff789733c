"""Quotas of users, client ids and addresses: what is set, what holds for a client, changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ottla.admin.cluster import Cluster
from ottla.admin.refusals import refusal
from ottla.protocol.apis.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.apis.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from ottla.protocol.errors import ErrorCode

DEFAULT = "<default>"
USER, CLIENT_ID, IP = "user", "client-id", "ip"


class Entity(NamedTuple):
    """Whom quotas are for. `DEFAULT` is everybody who has none of their own, None no such part."""

    user: str | None = None
    client_id: str | None = None
    ip: str | None = None

    @property
    def parts(self) -> dict[str, str]:
        """By type, as brokers name them."""
        named = {USER: self.user, CLIENT_ID: self.client_id, IP: self.ip}
        return {kind: name for kind, name in named.items() if name is not None}

    def __str__(self) -> str:
        return ", ".join(f"{kind} {name}" for kind, name in self.parts.items())


class Quota(NamedTuple):
    entity: Entity
    key: str
    value: float


async def list_quotas(cluster: Cluster) -> list[Quota]:
    """All that are set, users first, defaults before names."""
    request = DescribeClientQuotasRequest(components=[], strict=False)
    answer = await cluster.ask_any(request, DescribeClientQuotasResponse)
    if answer.error_code != ErrorCode.NONE:
        raise refusal(answer.error_code, answer.error_message)
    found = []
    for entry in answer.entries or []:
        parts = {
            each.entity_type: DEFAULT if each.entity_name is None else each.entity_name
            for each in entry.entity
        }
        entity = Entity(parts.get(USER), parts.get(CLIENT_ID), parts.get(IP))
        found += [Quota(entity, each.key, each.value) for each in entry.values]
    return sorted(found, key=_order)


def _order(quota: Quota) -> tuple[object, ...]:
    entity = quota.entity
    kinds = [part is None for part in entity]
    return (*kinds, *((part != DEFAULT, part or "") for part in entity), quota.key)


def effective(quotas: Sequence[Quota], client: Entity) -> list[Quota]:
    """Of each kind the one that holds for a client: the most special one."""
    ranks = {candidate: rank for rank, candidate in enumerate(_candidates(client))}
    best: dict[str, Quota] = {}
    for quota in quotas:
        rank = ranks.get(quota.entity)
        if rank is not None and (quota.key not in best or rank < ranks[best[quota.key].entity]):
            best[quota.key] = quota
    return [best[key] for key in sorted(best)]


def _candidates(client: Entity) -> list[Entity]:
    """In Kafka's order; a client without a user's name is one whose user has no quotas."""
    if client.ip is not None:
        return [Entity(ip=client.ip), Entity(ip=DEFAULT)]
    found = []
    users = [client.user, DEFAULT] if client.user is not None else []
    clients = [client.client_id, DEFAULT] if client.client_id is not None else []
    for user in users:
        found += [Entity(user, each) for each in clients]
        found.append(Entity(user))
    return found + [Entity(client_id=each) for each in clients]


async def alter_quotas(
    cluster: Cluster,
    entity: Entity,
    changes: Mapping[str, float | None],
    *,
    validate_only: bool = False,
) -> None:
    """All of the changes or, with a `KafkaError`, none; None removes a quota."""
    parts = [
        EntityData(entity_type=kind, entity_name=None if name == DEFAULT else name)
        for kind, name in entity.parts.items()
    ]
    ops = [
        OpData(key=key, value=0.0 if value is None else value, remove=value is None)
        for key, value in changes.items()
    ]
    request = AlterClientQuotasRequest(
        entries=[EntryData(entity=parts, ops=ops)], validate_only=validate_only
    )
    answer = await cluster.ask_any(request, AlterClientQuotasResponse)
    for told in answer.entries:
        if told.error_code != ErrorCode.NONE:
            raise refusal(told.error_code, told.error_message)
