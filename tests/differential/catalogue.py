"""All cases, in the order in which they are asked."""

from __future__ import annotations

from tests.differential.case import Case
from tests.differential.cases import (
    cluster,
    configs,
    coordinators,
    fetch,
    frames,
    groups,
    idempotence,
    metadata,
    offsets,
    old_formats,
    produce,
    sessions,
    topics,
)

CASES: tuple[Case, ...] = (
    *cluster.CASES,
    *metadata.CASES,
    *topics.CASES,
    *configs.CASES,
    *produce.CASES,
    *idempotence.CASES,
    *fetch.CASES,
    *sessions.CASES,
    *offsets.CASES,
    *frames.CASES,
    *coordinators.CASES,
    *groups.CASES,
    *old_formats.CASES,
)
