"""Transactions under a random crowd, faults and deaths. `make sim SEED=123` repeats one."""

from __future__ import annotations

from ottla.simulation.broker import SimulatedMachine
from ottla.verify.findings import Report
from tests.simulation.broker.machines import run_on_a_broker
from tests.simulation.seeds import given_seeds, repeatable
from tests.simulation.transactions.world import TRANSACTION_PARTITIONS, World

PROPERTIES = {
    "offsets_topic_replication_factor": "1",
    "offsets_topic_num_partitions": "1",
    "offsets_commit_timeout_ms": "2000",
    "transaction_state_log_replication_factor": "1",
    "transaction_state_log_min_isr": "1",
    "transaction_state_log_num_partitions": str(TRANSACTION_PARTITIONS),
    "transaction_abort_timed_out_transaction_cleanup_interval_ms": "1000",
    "request_timeout_ms": "2000",
}
COMPACTS_ALL_THE_TIME = {
    "transaction_state_log_load_buffer_size": "1000",
    "transaction_state_log_segment_bytes": "4000",
    "offsets_topic_segment_bytes": "4000",
    "log_cleaner_backoff_ms": "1000",
    "log_cleaner_min_cleanable_ratio": "0.01",
}
FORGETS_IDS = {
    "transactional_id_expiration_ms": "20000",
    "transaction_remove_expired_transaction_cleanup_interval_ms": "5000",
}


def settings(seed: int) -> dict[str, str]:
    chosen = dict(PROPERTIES)
    if seed % 4 < 2:
        chosen |= COMPACTS_ALL_THE_TIME
    if seed % 3 == 0:
        chosen |= FORGETS_IDS
    if seed % 2:
        chosen["log_flush_interval_messages"] = "1"
    return chosen


def run(seed: int) -> tuple[SimulatedMachine, Report]:
    reports: list[Report] = []

    async def test(machine: SimulatedMachine) -> None:
        reports.append(await World(machine, seed, is_synced=bool(seed % 2)).run())

    with repeatable(seed):
        machine = run_on_a_broker(test, seed=seed, latency_ms=(0, 30), properties=settings(seed))
        [report] = reports
        assert report.is_clean, [each.sentence for each in report.findings]
    return machine, report


@given_seeds(8, soak=400)
def test_every_transaction_is_whole_or_absent_and_the_loop_is_exactly_once(seed: int) -> None:
    run(seed)


@given_seeds(1, soak=10)
def test_the_same_seed_gives_the_same_trace(seed: int) -> None:
    first, second = ([*run(seed)[0].network.wires.events] for _ in range(2))
    assert len(first) > 1_000
    assert first == second


def test_a_run_is_about_something() -> None:
    told = run(0)[1].statistics
    assert told.committed > 50
    assert told.aborted > 10
    assert told.transformed > 50
    assert told.reads > 500
