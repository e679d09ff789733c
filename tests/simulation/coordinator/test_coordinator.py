"""A coordinator under a random crowd, faults and deaths. `make sim SEED=123` repeats one."""

from __future__ import annotations

import pytest

from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.machines import run_on_a_broker
from tests.simulation.coordinator.world import OFFSETS_PARTITIONS, World
from tests.simulation.seeds import given_seeds, repeatable

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


def run(seed: int) -> SimulatedMachine:
    async def test(machine: SimulatedMachine) -> None:
        await World(machine, seed, is_synced=bool(seed % 2)).run()

    with repeatable(seed):
        return run_on_a_broker(test, seed=seed, latency_ms=(0, 30), properties=settings(seed))


@given_seeds(20, soak=500)
def test_members_agree_partitions_have_one_owner_and_no_offset_is_lost(seed: int) -> None:
    run(seed)


@given_seeds(1, soak=10)
def test_the_same_seed_gives_the_same_trace(seed: int) -> None:
    first, second = ([*run(seed).network.wires.events] for _ in range(2))
    assert len(first) > 1_000
    assert first == second


def test_a_failure_says_how_to_have_it_again() -> None:
    with pytest.raises(AssertionError) as failed, repeatable(7):
        raise AssertionError
    assert failed.value.__notes__ == ["`make sim SEED=7` repeats it"]
