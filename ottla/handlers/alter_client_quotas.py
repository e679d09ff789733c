"""AlterClientQuotas: sets and removes quotas; every broker hears of it through the store."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.handlers.call import Call
from ottla.protocol.apis.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    EntryResult,
    OpData,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.security.quota_changes import Change, Entity, change, path_of


async def handle_alter_client_quotas(
    request: AlterClientQuotasRequest, call: Call
) -> AlterClientQuotasResponse:
    results: dict[frozenset[tuple[str, str | None]], EntryResult] = {}
    for entry in request.entries:
        entity = _entity(entry)
        error: KafkaError | None = None
        try:
            await _alter(call, entity, entry.ops, validate_only=request.validate_only)
        except KafkaError as refused:
            error = refused
        # Who is named twice is altered twice, but told of once.
        results[frozenset(entity.items())] = _result(entity, error)
    return AlterClientQuotasResponse(entries=list(results.values()))


def _entity(entry: EntryData) -> dict[str, str | None]:
    return {each.entity_type: each.entity_name for each in entry.entity}


async def _alter(call: Call, entity: Entity, ops: list[OpData], *, validate_only: bool) -> None:
    changes: list[Change] = [(op.key, None if op.remove else op.value) for op in ops]
    path = path_of(entity)

    def edit(values: Mapping[str, str]) -> dict[str, str]:
        return change(entity, values, changes)

    if validate_only:
        edit(await call.services.configs.read(path))
    else:
        await call.services.configs.change(path, edit)


def _result(entity: Entity, error: KafkaError | None) -> EntryResult:
    return EntryResult(
        error_code=error.code if error else ErrorCode.NONE,
        error_message=error.detail or None if error else None,
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
    )


def refuse(request: AlterClientQuotasRequest, error: KafkaError) -> AlterClientQuotasResponse:
    return AlterClientQuotasResponse(
        entries=[_result(_entity(each), error) for each in request.entries]
    )
