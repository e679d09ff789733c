"""Which brokers hold which partition: Kafka's placement, and the check of a manual one.

Where Kafka draws a random start index and shift, they are arguments here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ottla.protocol.errors import ErrorCode, KafkaError

Assignment = dict[int, tuple[int, ...]]

# Ten times what one broker is promised to hold. More could only be a mistake, or meant as harm:
# the placement of two thousand million partitions takes all time and memory there is.
MOST_PARTITIONS = 100_000


class Allowance:
    """How many partitions the topics of one request may have together."""

    def __init__(self) -> None:
        self._left = MOST_PARTITIONS

    def take(self, topic: str, partitions: int) -> None:
        if partitions > self._left:
            raise KafkaError(
                ErrorCode.INVALID_PARTITIONS,
                f"{partitions} partitions of topic '{topic}' are too many: one request may name "
                f"{MOST_PARTITIONS} in all. Ask for fewer, or for other topics in requests of "
                "their own.",
            )
        self._left -= max(0, partitions)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A live broker that may be given replicas."""

    broker: int
    rack: str | None = None


def place(
    candidates: Sequence[Candidate],
    *,
    partitions: int,
    replication_factor: int,
    start_index: int,
    shift: int,
    first_partition: int = 0,
) -> Assignment:
    """Replicas of each new partition, the preferred leader first."""
    _check_sizes(
        partitions=partitions, replication_factor=replication_factor, brokers=len(candidates)
    )
    racks = {candidate.broker: candidate.rack for candidate in candidates}
    if any(racks.values()) and not all(racks.values()):
        missing = ", ".join(str(broker) for broker in sorted(racks) if not racks[broker])
        raise KafkaError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"Not all brokers have a rack: set broker.rack on {missing}, or on none.",
        )
    aware = all(racks.values())
    brokers = _alternating(racks) if aware else sorted(racks)
    rack_count = len(dict.fromkeys(racks.values()))
    assignment: Assignment = {}
    for partition in range(first_partition, first_partition + partitions):
        if partition > 0 and partition % len(brokers) == 0:
            shift += 1
        first = (partition + start_index) % len(brokers)
        ring = _followers(brokers, first=first, shift=shift * rack_count if aware else shift)
        if aware:
            ring = _spread(ring, racks, leader=brokers[first], rack_count=rack_count)
        followers = (next(ring) for _ in range(replication_factor - 1))
        assignment[partition] = (brokers[first], *followers)
    return assignment


def _check_sizes(*, partitions: int, replication_factor: int, brokers: int) -> None:
    if partitions <= 0:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0."
        )
    if replication_factor <= 0:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0."
        )
    if replication_factor > brokers:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor: {replication_factor} larger than available brokers: {brokers}.",
        )


def _followers(brokers: Sequence[int], *, first: int, shift: int) -> Iterator[int]:
    """All brokers but the first, round and round, starting `shift` behind it."""
    others = len(brokers) - 1
    step = 0
    while True:
        yield brokers[(first + 1 + (shift + step) % others) % len(brokers)]
        step += 1


def _spread(
    ring: Iterator[int], racks: Mapping[int, str | None], *, leader: int, rack_count: int
) -> Iterator[int]:
    """Those of the ring in a rack without a replica; once every rack has one, any free broker."""
    taken = {leader}
    used_racks = {racks[leader]}
    for broker in ring:
        rack_is_free = racks[broker] not in used_racks or len(used_racks) == rack_count
        if rack_is_free and broker not in taken:
            taken.add(broker)
            used_racks.add(racks[broker])
            yield broker


def _alternating(racks: Mapping[int, str | None]) -> list[int]:
    """One broker of each rack in turn, so that neighbours are in different racks."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker] or "", []).append(broker)
    queues = [by_rack[rack] for rack in sorted(by_rack)]
    longest = max(len(queue) for queue in queues)
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def expand(
    candidates: Sequence[Candidate], existing: Mapping[int, Sequence[int]], *, add: int
) -> Assignment:
    """Places `add` partitions behind the existing ones, going on as partition 0 began."""
    first_replicas = existing[0]
    brokers = sorted(candidate.broker for candidate in candidates)
    above = [index for index, broker in enumerate(brokers) if broker >= first_replicas[0]]
    start = above[0] if above else 0
    return place(
        candidates,
        partitions=add,
        replication_factor=len(first_replicas),
        start_index=start,
        shift=start,
        first_partition=len(existing),
    )


def check_manual(assignment: Mapping[int, Sequence[int]]) -> None:
    """Refuses a new topic's manual assignment that contradicts itself."""
    sizes = dict.fromkeys(len(replicas) for replicas in assignment.values())
    if len(sizes) != 1:
        raise _refused("All partitions should have the same number of replicas")
    for replicas in assignment.values():
        if len(set(replicas)) != len(replicas):
            raise _refused(f"Duplicate replica assignment found: {_shown(assignment)}")
    if sorted(assignment) != list(range(len(assignment))):
        raise _refused("partitions should be a consecutive 0-based integer sequence")
    if 0 in sizes:
        raise _refused("Cannot have replication factor of 0 for partition id 0.")


def check_expansion(
    assignment: Mapping[int, Sequence[int]], *, replication_factor: int, live: Sequence[int]
) -> None:
    """Refuses replicas for added partitions that do not fit the topic or the cluster."""
    for partition, replicas in assignment.items():
        if not replicas:
            raise _refused(f"Cannot have replication factor of 0 for partition id {partition}.")
        if len(set(replicas)) != len(replicas):
            raise _refused(
                "Duplicate brokers not allowed in replica assignment: "
                f"{_listed(replicas)} for partition id {partition}."
            )
        if not set(replicas) <= set(live):
            raise _refused(
                f"Some brokers specified for partition id {partition} are not available. "
                f"Specified brokers: {_listed(replicas)}, available brokers: {_listed(live)}."
            )
    bad = [(p, len(r)) for p, r in sorted(assignment.items()) if len(r) != replication_factor]
    if bad:
        raise _refused(
            "Inconsistent replication factor between partitions, partition 0 has "
            f"{replication_factor} while partitions [{_listed([p for p, _ in bad])}] have "
            f"replication factors [{_listed([size for _, size in bad])}], respectively."
        )


def _refused(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _shown(assignment: Mapping[int, Sequence[int]]) -> str:
    return "; ".join(f"{p}: [{_listed(replicas)}]" for p, replicas in sorted(assignment.items()))
