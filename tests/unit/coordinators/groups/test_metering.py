"""The coordinator's figures, under the names that dashboards for Kafka know."""

from __future__ import annotations

from ottla.coordinators.groups.metering import meter
from ottla.metrics import Metrics
from tests.unit.coordinators.groups.world import World
from tests.virtual_time import on_virtual_time


@on_virtual_time
async def test_groups_and_offsets_are_counted_when_somebody_looks() -> None:
    world, metrics = await World().start(), Metrics()
    meter(world.coordinator, metrics)
    await world.formed("readers")
    for number in range(3):
        await world.commit("simple", "orders", number, 1)
    await world.delete_offsets("simple", ("orders", 0))
    shown = dict(line.split() for line in metrics.render().decode().splitlines() if line[0] != "#")
    metadata = "kafka_coordinator_group_GroupMetadataManager_"
    assert shown[f"{metadata}NumOffsets"] == "2.0"
    assert shown[f"{metadata}NumGroups"] == "2.0"
    assert shown[f"{metadata}NumGroupsStable"] == shown[f"{metadata}NumGroupsEmpty"] == "1.0"
    assert shown[f"{metadata}NumGroupsPreparingRebalance"] == "0.0"
    assert shown["kafka_server_group_coordinator_metrics_offset_commit_count"] == "3.0"
    assert shown["kafka_server_group_coordinator_metrics_offset_deletion_count"] == "1.0"
