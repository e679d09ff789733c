"""What is measured on a broker that is warm: each scenario is a run on fresh topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from benchmarks.beside.bench import Bench
from benchmarks.beside.rows import Row, at_least, at_most
from benchmarks.drivers.driver import Outcome, echoing
from benchmarks.drivers.frames import fetch_request, produce_request

KIB = 1024
SMALL, LARGE = 16_384, 1_000_000  # batches
SYNC_COUNT, PACED_COUNT, PACED_PER_SECOND = 20_000, 10_000, 1_000
REQUEST_BYTES = 100
REQUESTS_S = 5
RECORD_OVERHEAD = 16  # at most, as the drivers count
IN_FLIGHT = 5  # as Java's clients do
FETCHED_MB = 1_000
READS = 5  # each takes half a second: too short by itself


@dataclass(frozen=True, slots=True)
class Scenario:
    """`run` returns one figure for each row."""

    rows: tuple[Row, ...]
    run: Callable[[Bench], tuple[float, ...]]

    @property
    def name(self) -> str:
        return self.rows[0].label


@dataclass(frozen=True, slots=True)
class Load:
    """What a producer sends, and how; `settings` are librdkafka's."""

    size: int
    batch: int
    mb: int
    acks: int = 1
    partitions: int = 1
    settings: tuple[tuple[str, str], ...] = ()

    def send(self, bench: Bench, topic: str) -> Outcome:
        bench.fill_memory()
        return bench.client(
            "produce",
            topic,
            size=self.size,
            batch=self.batch,
            batch_size=self.batch,
            linger_ms=5,
            count=bench.amount(self.mb * 1e6 / self.size),
            request_required_acks=self.acks,
            partitions=self.partitions,
            **dict(self.settings),
        )


def produce(label: str, load: Load, *, must: float) -> Scenario:
    def run(bench: Bench) -> tuple[float, ...]:
        with bench.fresh_topic(load.partitions) as topic:
            return (load.send(bench, topic)["mb_per_second"],)

    return Scenario((Row(f"produce {label}", "MB/s", at_least(must)),), run)


def produce_raw(label: str, *, size: int, batch: int, mb: int, acks: int = 1) -> Scenario:
    """One connection of a client that made its batches before, so that the broker is the limit."""
    records = batch // (size + RECORD_OVERHEAD)

    def run(bench: Bench) -> tuple[float, ...]:
        with bench.fresh_topic() as topic:
            request = produce_request(topic, record_bytes=size, acks=acks, records=records)
            payload = records * size
            bench.fill_memory()
            count = bench.amount(mb * 1e6 / payload)
            done = bench.raw("repeat", request, depth=IN_FLIGHT, count=count, payload=payload)
        return (done["mb_per_second"],)

    return Scenario((Row(f"produce {label}, bare socket", "MB/s", at_least(2)),), run)


def fetch(label: str, read: Callable[[Bench, str, int], Outcome]) -> Scenario:
    def run(bench: Bench) -> tuple[float, ...]:
        with bench.fresh_topic() as topic:
            # The driver's first record is not among those it counts.
            count = int(Load(KIB, LARGE, mb=FETCHED_MB).send(bench, topic)["count"]) + 1
            return (median(read(bench, topic, count)["mb_per_second"] for _ in range(READS)),)

    return Scenario((Row(label, "MB/s", at_least(1)),), run)


def fetch_by_client(bench: Bench, topic: str, count: int) -> Outcome:
    return bench.client("fetch", topic, count=count)


def fetch_raw(bench: Bench, topic: str, count: int) -> Outcome:
    return bench.raw("fetch", fetch_request(topic), until=count)


def request_rate(bench: Bench, *, connections: int, acks: int = 1, depth: int = 1) -> Outcome:
    seconds = max(0.5, REQUESTS_S * bench.scale)
    with bench.fresh_topic() as topic:
        request = produce_request(topic, record_bytes=REQUEST_BYTES, acks=acks)
        return bench.raw("repeat", request, connections=connections, depth=depth, seconds=seconds)


def requests(
    label: str, *, connections: int, must: float, acks: int = 1, depth: int = 1
) -> Scenario:
    def run(bench: Bench) -> tuple[float, ...]:
        done = request_rate(bench, connections=connections, acks=acks, depth=depth)
        return done["per_second"], done["p50_us"], done["p99_us"]

    rate = Row(f"requests, {label}", "1/s", at_least(must))
    latencies = [Row(f"{rate.label}, {name}", "us") for name in ("p50", "p99")]
    return Scenario((rate, *latencies), run)


def kept_with_many(bench: Bench) -> tuple[float, ...]:
    """By the broker, and beside what is left of a server that does nothing but read and write."""
    few, many = (request_rate(bench, connections=number) for number in (100, 1_000))
    kept = many["per_second"] / few["per_second"]
    few, many = (echo_rate(bench, connections=number) for number in (100, 1_000))
    return kept, kept / (many["per_second"] / few["per_second"])


def echo_rate(bench: Bench, *, connections: int) -> Outcome:
    seconds = max(0.5, REQUESTS_S * bench.scale)
    request = produce_request("echo", record_bytes=REQUEST_BYTES, acks=1)
    with echoing(request.head_bytes) as port:
        return bench.raw("repeat", request, port=port, connections=connections, seconds=seconds)


def sync(label: str, acks: int) -> Scenario:
    def run(bench: Bench) -> tuple[float, ...]:
        options = {"size": REQUEST_BYTES, "linger_ms": 0, "request_required_acks": acks}
        with bench.fresh_topic() as topic:
            done = bench.client("sync", topic, count=bench.amount(SYNC_COUNT), **options)
        return done["p50_us"], done["p99_us"]

    rows = [Row(f"sync produce, {label}, {name}", "us", at_most(1)) for name in ("p50", "p99")]
    return Scenario(tuple(rows), run)


def end_to_end(bench: Bench) -> tuple[float, ...]:
    options = {"size": REQUEST_BYTES, "rate": PACED_PER_SECOND, "linger_ms": 0}
    with bench.fresh_topic() as topic:
        done = bench.client("end-to-end", topic, count=bench.amount(PACED_COUNT), **options)
    return done["p50_us"], done["p99_us"], done["p999_us"]


_END_TO_END_ROWS = tuple(
    Row(f"end to end, 1,000 records/s, {name}", "us", at_most(1))
    for name in ("p50", "p99", "p99.9")
)

# With a longer queue librdkafka itself is what limits an idempotent producer.
_IDEMPOTENT = (("enable.idempotence", "true"), ("queue.buffering.max.messages", "20000"))

SCENARIOS = (
    # Two gigabytes: less stays in the page cache and says nothing of what lasts.
    produce_raw("1 KiB in 1 MB batches", size=KIB, batch=LARGE, mb=2000),
    produce_raw("1 KiB in 16 KB batches", size=KIB, batch=SMALL, mb=400),
    produce_raw("100 B in 16 KB batches", size=100, batch=SMALL, mb=400),
    produce_raw("1 KiB in 1 MB, acks=all", size=KIB, batch=LARGE, mb=2000, acks=-1),
    produce_raw("1 KiB in 16 KB, acks=all", size=KIB, batch=SMALL, mb=400, acks=-1),
    # The same as a real client sees it: where it takes a whole core, it is the limit.
    produce("1 KiB in 1 MB batches", Load(KIB, LARGE, mb=2000), must=1),
    produce("1 KiB in 16 KB batches", Load(KIB, SMALL, mb=400), must=2),
    produce("100 B in 16 KB batches", Load(100, SMALL, mb=200), must=1),
    # Java's clients wait for an answer when five are out; librdkafka sends on.
    *(
        produce(
            f"{label} in 16 KB, 5 in flight",
            Load(size, SMALL, mb=mb, settings=(("max.in.flight", "5"),)),
            must=1,
        )
        for label, size, mb in (("1 KiB", KIB, 400), ("100 B", 100, 200))
    ),
    produce("100 B in 1 MB batches", Load(100, LARGE, mb=400), must=1),
    *(
        produce(
            f"1 KiB in 1 MB, {codec}",
            Load(KIB, LARGE, mb=mb, settings=(("compression.codec", codec),)),
            must=1,
        )
        for codec, mb in (("gzip", 100), ("lz4", 500), ("zstd", 300))
    ),
    produce("1 KiB in 1 MB, acks=all", Load(KIB, LARGE, mb=2000, acks=-1), must=1),
    produce("1 KiB in 16 KB, acks=all", Load(KIB, SMALL, mb=400, acks=-1), must=2),
    produce(
        "1 KiB in 1 MB, idempotent",
        Load(KIB, LARGE, mb=2000, acks=-1, settings=_IDEMPOTENT),
        must=1,
    ),
    produce(
        "1 KiB in 16 KB, idempotent",
        Load(KIB, SMALL, mb=400, acks=-1, settings=_IDEMPOTENT),
        must=1,
    ),
    produce("1 KiB in 16 KB, 100 partitions", Load(KIB, SMALL, mb=400, partitions=100), must=1),
    produce("1 KiB in 16 KB, 1,000 partitions", Load(KIB, SMALL, mb=400, partitions=1_000), must=1),
    requests("1 connection", connections=1, must=1),
    requests("10 connections", connections=10, must=1.5),
    requests("10 connections, acks=all", connections=10, must=1.5, acks=-1),
    requests("10 connections, 10 deep", connections=10, must=1, depth=10),
    requests("100 connections", connections=100, must=1),
    requests("1,000 connections", connections=1_000, must=1),
    # Kafka's own loss is the measure: the driver and the kernel lose a tenth by themselves (0019).
    Scenario(
        (
            Row("1,000 connections over 100", "", at_least(1)),
            Row("1,000 connections over 100, beside an echo's in C", ""),
        ),
        kept_with_many,
    ),
    sync("acks=1", 1),
    sync("acks=all", -1),
    Scenario(_END_TO_END_ROWS, end_to_end),
    fetch("fetch 1 KiB, librdkafka", fetch_by_client),
    fetch("fetch 1 KiB, bare socket", fetch_raw),
)

# Together they take every path that is measured, so that a JVM has compiled it.
WARM_UP = (
    *(
        produce("", Load(size, batch, mb=200), must=1)
        for size, batch in ((KIB, LARGE), (KIB, SMALL), (100, SMALL), (KIB, LARGE))
    ),
    requests("", connections=10, must=1),
    requests("", connections=10, must=1, acks=-1),
    fetch("", fetch_by_client),
    sync("", 1),
)
