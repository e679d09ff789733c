"""What is measured of Spark on a broker: its connector, and our source and sink beside it."""

from __future__ import annotations

from statistics import median

from benchmarks.beside.bench import Bench
from benchmarks.beside.rows import Row, above, at_least
from benchmarks.beside.scenarios import KIB, LARGE, Load, Scenario
from benchmarks.beside.spark_session import measured, records, spark
from benchmarks.drivers.driver import Outcome

COUNTS = {100: 1_000_000, KIB: 300_000}
NAMES = {100: "100 B", KIB: "1 KiB"}
CONNECTOR, JARLESS = "kafka", "ottla"
TURNS = 3


def write(bench: Bench, topic: str, form: str, size: int) -> Outcome:
    count = bench.amount(COUNTS[size])
    frame = records(count, size)
    address = {"kafka.bootstrap.servers": bench.running.bootstrap, "topic": topic}
    writer = frame.write.format(form).options(**address).mode("append")
    return measured(bench, writer.save, count=count, size=size)


def fill(bench: Bench, topic: str, *, partitions: int, size: int) -> int:
    mb = COUNTS[size] * size / 1e6
    done = Load(size, LARGE, mb=int(mb), partitions=partitions).send(bench, topic)
    return int(done["count"])


def read(bench: Bench, topic: str, form: str, *, count: int, size: int) -> Outcome:
    """All columns, thrown away."""
    address = {"kafka.bootstrap.servers": bench.running.bootstrap, "subscribe": topic}
    frame = spark().read.format(form).options(**address).load()
    writer = frame.write.format("noop").mode("overwrite")
    return measured(bench, writer.save, count=count, size=size)


def writing(size: int, partitions: int) -> Scenario:
    def run(bench: Bench) -> tuple[float, ...]:
        with bench.fresh_topic(partitions) as topic:
            return (write(bench, topic, CONNECTOR, size)["mb_per_second"],)

    return Scenario((Row(_label("writes", size, partitions), "MB/s", at_least(1)),), run)


def reading(size: int, partitions: int) -> Scenario:
    def run(bench: Bench) -> tuple[float, ...]:
        with bench.fresh_topic(partitions) as topic:
            count = fill(bench, topic, partitions=partitions, size=size)
            return (read(bench, topic, CONNECTOR, count=count, size=size)["mb_per_second"],)

    return Scenario((Row(_label("reads", size, partitions), "MB/s", at_least(1)),), run)


def reading_without_jars(size: int, partitions: int, *, least: float | None) -> Scenario:
    """The same topic in turns, so that nothing else makes the difference."""

    def run(bench: Bench) -> tuple[float, ...]:
        with bench.fresh_topic(partitions) as topic:
            count = fill(bench, topic, partitions=partitions, size=size)
            turns = [
                [
                    read(bench, topic, form, count=count, size=size)["mb_per_second"]
                    for form in (CONNECTOR, JARLESS)
                ]
                for _ in range(bench.amount(TURNS))
            ]
        theirs, ours = (median(each) for each in zip(*turns, strict=True))
        return ours, ours / theirs

    must = None if least is None else above(least)
    over = Row(f"jarless over connector, reads {NAMES[size]}", "", must)
    return Scenario((Row(_label("reads", size, partitions, "jarless"), "MB/s"), over), run)


def writing_without_jars(size: int, partitions: int) -> Scenario:
    def run(bench: Bench) -> tuple[float, ...]:
        turns = []
        for _ in range(bench.amount(TURNS)):
            turn = []
            for form in (CONNECTOR, JARLESS):
                with bench.fresh_topic(partitions) as topic:
                    turn.append(write(bench, topic, form, size)["mb_per_second"])
            turns.append(turn)
        theirs, ours = (median(each) for each in zip(*turns, strict=True))
        return ours, ours / theirs

    over = Row(f"jarless over connector, writes {NAMES[size]}", "")
    return Scenario((Row(_label("writes", size, partitions, "jarless"), "MB/s"), over), run)


def _label(what: str, size: int, partitions: int, by: str = "connector") -> str:
    return f"{by} {what} {NAMES[size]}, {partitions} partitions".replace(
        "1 partitions", "1 partition"
    )


SPARK_SCENARIOS = (
    *(each(size, partitions)
      for size in COUNTS for partitions in (1, 4) for each in (writing, reading)),
    *(reading_without_jars(size, 4, least=0.6) for size in COUNTS),
    *(writing_without_jars(size, 4) for size in COUNTS),
)  # fmt: skip
WARM_UP = (writing(100, 4), reading_without_jars(100, 4, least=None), writing_without_jars(KIB, 4))
