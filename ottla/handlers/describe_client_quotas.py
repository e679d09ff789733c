"""DescribeClientQuotas: what is set, for users, client ids and addresses that match."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from ottla.protocol.errors import KafkaError
from ottla.security.quota_changes import Filter, entity_at, quotas_in


async def handle_describe_client_quotas(
    request: DescribeClientQuotasRequest, call: Call
) -> DescribeClientQuotasResponse:
    wanted = Filter(
        [(each.entity_type, each.match_type, each.match) for each in request.components],
        strict=request.strict,
    )
    configs = call.services.configs
    entries: list[EntryData] = []
    for path in await configs.entities():
        entity = entity_at(path)
        if entity is None or not wanted.matches(entity):
            continue
        quotas = list(quotas_in(entity, await configs.read(path)))
        if quotas:
            entries.append(
                EntryData(
                    entity=[
                        EntityData(entity_type=entity_type, entity_name=name)
                        for entity_type, name in entity.items()
                    ],
                    values=[ValueData(key=key, value=value) for key, value in quotas],
                )
            )
    return DescribeClientQuotasResponse(error_message="", entries=entries)


def refuse(request: DescribeClientQuotasRequest, error: KafkaError) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(
        error_code=error.code, error_message=error.detail or None, entries=None
    )
