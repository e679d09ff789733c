"""All cases, in the order in which they are asked."""

from __future__ import annotations

from tests.differential.case import Case
from tests.differential.cases import (
    cluster,
    configs,
    coordinators,
    credentials,
    fetch,
    frames,
    groups,
    idempotence,
    leadership,
    metadata,
    offsets,
    old_formats,
    produce,
    quotas,
    reassignments,
    sessions,
    topics,
    transactions,
    unsecured,
)

CASES: tuple[Case, ...] = (
    *cluster.CASES,
    *metadata.CASES,
    *topics.CASES,
    *configs.CASES,
    *reassignments.CASES,
    *credentials.CASES,
    *unsecured.CASES,
    *produce.CASES,
    *idempotence.CASES,
    *leadership.CASES,
    *fetch.CASES,
    *sessions.CASES,
    *offsets.CASES,
    *frames.CASES,
    *coordinators.CASES,
    *groups.CASES,
    *transactions.CASES,
    *quotas.CASES,
    *old_formats.CASES,
)
