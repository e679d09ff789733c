"""What is measured of a coordinator that is warm: groups, commits, heartbeats."""

from __future__ import annotations

from benchmarks.beside.bench import Bench
from benchmarks.beside.members import members, wait_for_coordinator
from benchmarks.beside.rows import Row, above, at_least, at_most
from benchmarks.beside.scenarios import Scenario
from benchmarks.drivers.frames import RawRequest
from benchmarks.drivers.group_frames import Committer, commits, heartbeats

MEMBERS = 50
ROUNDS = 20
CONNECTIONS = 10
SECONDS = 4
MANY = 100  # offsets in one commit
OFFSETS_PER_SECOND = 100_000


def group(label: str, mode: str) -> Scenario:
    """The median of many groups, each of which is new."""

    def run(bench: Bench) -> tuple[float, ...]:
        name, rounds = bench.admin.fresh_name(mode), bench.amount(ROUNDS)
        done = bench.group(mode, name, members=MEMBERS, rounds=rounds)
        return done["p50_us"] / 1000, done["max_us"] / 1000

    rows = Row(label, "ms", at_most(1)), Row(f"{label}, slowest", "ms")
    return Scenario(rows, run)


def beats(label: str) -> Scenario:
    def run(bench: Bench) -> tuple[float, ...]:
        with members(bench.admin, _fresh_groups(bench)) as joined:
            return (_per_second(bench, heartbeats(joined)),)

    return Scenario((Row(label, "1/s", at_least(1)),), run)


def committing(label: str, *, offsets: int, as_members: bool) -> Scenario:
    """Ten groups, one over each connection."""

    def run(bench: Bench) -> tuple[float, ...]:
        groups = _fresh_groups(bench)
        with bench.fresh_topic(offsets) as topic:
            if as_members:
                with members(bench.admin, groups) as joined:
                    rate = _per_second(bench, commits(joined, topic, partitions=offsets))
            else:
                alone = [Committer(each) for each in groups]
                rate = _per_second(bench, commits(alone, topic, partitions=offsets))
        return (rate, rate * offsets) if offsets > 1 else (rate,)

    rows = [Row(label, "1/s", at_least(1))]
    if offsets > 1:
        rows.append(Row(f"{label}, offsets", "1/s", above(OFFSETS_PER_SECOND)))
    return Scenario(tuple(rows), run)


def _fresh_groups(bench: Bench) -> list[str]:
    return [bench.admin.fresh_name("group") for _ in range(CONNECTIONS)]


def _per_second(bench: Bench, request: RawRequest) -> float:
    seconds = max(0.5, SECONDS * bench.scale)
    return bench.raw("repeat", request, connections=CONNECTIONS, seconds=seconds)["per_second"]


def every_coordinator(bench: Bench) -> tuple[float, ...]:
    """The log of offsets is created and led; a thousand names meet each of its partitions."""
    for number in range(1_000):
        wait_for_coordinator(bench.admin, f"anyone-{number}")
    return ()


GROUP_SCENARIOS = (
    group("group of 50 formed", "form"),
    group("member joins a group of 50", "grow"),
    beats("heartbeats, 10 connections"),
    committing("commits of 1 offset", offsets=1, as_members=False),
    committing("commits of 1 offset by a member", offsets=1, as_members=True),
    committing("commits of 100 offsets", offsets=MANY, as_members=False),
    committing("commits of 100 offsets by a member", offsets=MANY, as_members=True),
)
WARM_UP = (Scenario((), every_coordinator), *GROUP_SCENARIOS)
