"""What is measured of transactions on a warm broker: how many commit, what reading costs."""

from __future__ import annotations

from statistics import median

from benchmarks.beside.bench import Bench
from benchmarks.beside.rows import Row, above, at_least, at_most
from benchmarks.beside.scenarios import KIB, Scenario
from benchmarks.drivers.driver import Outcome

TRANSACTIONS, RECORDS = 2_000, 100
FILLED, FILLED_RECORDS = 400, 1_000  # transactions of a megabyte
TURNS = 5
KEPT = 0.95  # of the rate of those who also read what is not committed


def transact(
    bench: Bench, topic: str, *, count: int, records: int, size: int, linger_ms: float = 0
) -> Outcome:
    return bench.client(
        "transact",
        topic,
        count=count,
        records=records,
        size=size,
        linger_ms=linger_ms,
        transactional_id=bench.admin.fresh_name("transactional"),
    )


def committing(label: str, *, size: int) -> Scenario:
    """One producer, one transaction after the other."""

    def run(bench: Bench) -> tuple[float, ...]:
        count = bench.amount(TRANSACTIONS)
        with bench.fresh_topic() as topic:
            done = transact(bench, topic, count=count, records=RECORDS, size=size)
        return done["per_second"], done["p50_us"], done["p99_us"]

    rate = Row(label, "1/s", at_least(1.2))
    latencies = (Row(f"{label}, {name}", "us", at_most(1)) for name in ("p50", "p99"))
    return Scenario((rate, *latencies), run)


def reading(bench: Bench) -> tuple[float, ...]:
    """The same records in turns, so that nothing else makes the difference."""
    count = bench.amount(FILLED)
    with bench.fresh_topic() as topic:
        transact(bench, topic, count=count, records=FILLED_RECORDS, size=KIB, linger_ms=5)
        # The driver's first transaction is not among those it counts.
        every = (count + 1) * FILLED_RECORDS
        turns = [
            [
                bench.client("fetch", topic, count=every, isolation_level=level)["mb_per_second"]
                for level in ("read_uncommitted", "read_committed")
            ]
            for _ in range(bench.amount(TURNS))
        ]
    plain, committed = (median(each) for each in zip(*turns, strict=True))
    return committed, committed / plain


TRANSACTION_SCENARIOS = (
    committing("transactions of 100 records of 1 KiB", size=KIB),
    committing("transactions of 100 records of 100 B", size=100),
    Scenario(
        (
            Row("fetch of committed records", "MB/s", at_least(1)),
            Row("fetch of committed over plain", "", above(KEPT)),
        ),
        reading,
    ),
)
WARM_UP = TRANSACTION_SCENARIOS
