"""A coordinator under a random crowd, faults and deaths. `make sim SEED=123` repeats one."""

from __future__ import annotations

from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.machines import run_on_a_broker
from tests.simulation.coordinator.world import OFFSETS_PARTITIONS, World
from tests.simulation.seeds import given_seeds

PROPERTIES = {
    "offsets_topic_replication_factor": "1",
    "offsets_topic_num_partitions": str(OFFSETS_PARTITIONS),
    "offsets_commit_timeout_ms": "2000",
}

COMPACTS_ALL_THE_TIME = {
    "offsets_load_buffer_size": "1000",
    "offsets_topic_segment_bytes": "4000",
    "log_cleaner_backoff_ms": "1000",
    "log_cleaner_min_cleanable_ratio": "0.01",
}


def settings(seed: int) -> dict[str, str]:
    delay_ms = (0, 500, 3_000)[seed % 3]
    chosen = {"group_initial_rebalance_delay_ms": str(delay_ms)}
    if seed % 5 == 0:
        chosen["group_max_size"] = "4"
    if seed % 4 < 2:
        chosen |= COMPACTS_ALL_THE_TIME
    if seed % 2:
        chosen["log_flush_interval_messages"] = "1"
    return PROPERTIES | chosen


@given_seeds(20, soak=500)
def test_members_agree_partitions_have_one_owner_and_no_offset_is_lost(seed: int) -> None:
    async def test(machine: SimulatedMachine) -> None:
        await World(machine, seed, is_synced=bool(seed % 2)).run()

    run_on_a_broker(test, seed=seed, latency_ms=(0, 30), properties=settings(seed))
