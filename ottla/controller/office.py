"""How a broker becomes controller: /controller says who, /controller_epoch counts the terms."""

from __future__ import annotations

from ottla.controller.context import ControllerContext
from ottla.store.paths import CONTROLLER, CONTROLLER_EPOCH
from ottla.store.port import (
    BadVersion,
    Check,
    Create,
    Entry,
    MetadataStore,
    NodeExists,
    NoNode,
    Operation,
    Write,
)
from ottla.store.znodes import Controller, ControllerEpoch


def holder(entry: Entry | None) -> int:
    """The active controller's broker id; -1 if nobody is."""
    return Controller.decode(entry.data).broker_id if entry else -1


async def claim_office(
    store: MetadataStore, context: ControllerContext, held: Entry | None, *, now_ms: int
) -> bool:
    """Whether we won. `held` is our own node, if we start over in the same session.

    The node and the epoch change together, so two controllers never share an epoch.
    """
    claim: Operation = Create(
        CONTROLLER, Controller(context.controller_id, now_ms).encode(), ephemeral=True
    )
    if held is not None:
        claim = Check(CONTROLLER, held.version)
    before = await _epoch_entry(store)
    epoch = ControllerEpoch.decode(before.data).epoch + 1
    raised = Write(CONTROLLER_EPOCH, ControllerEpoch(epoch).encode(), before.version)
    try:
        *_, after = await store.multi([claim, raised])
    except (NodeExists, NoNode, BadVersion):
        return False
    assert after is not None
    context.epoch, context.epoch_version = epoch, after.version
    return True


async def _epoch_entry(store: MetadataStore) -> Entry:
    while (entry := await store.read(CONTROLLER_EPOCH)) is None:
        try:
            return await store.create(CONTROLLER_EPOCH, ControllerEpoch(0).encode())
        except NodeExists:
            continue  # another broker starts at the same moment
    return entry
