"""Producers, consumers and a loop of both at work on a cluster, all they do written down.

One thread does it all: whose turn it is, how large a transaction is and how it ends is drawn from
a seed. So transactions overlap in every way, and a seed repeats its draws.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice

from ottla.verify.actors import Actor, Member, Writer, read
from ottla.verify.history import FinalRead, Isolation, TopicPartition
from ottla.verify.stage import PATIENCE_S, Stage, Stuck

_WAIT_S = 0.005
_PIECE = 10_000  # records in one event of a final read
_ENDED = object()

IsStopped = Callable[[], bool]


class Workload:
    """`run` it, then `finish` it; the stage's recorder has the history, also of a part."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def run(self, on_step: Callable[[int], None], is_stopped: IsStopped) -> None:
        """Until the producers are done and the loop has transformed all that they committed."""
        plan = self._stage.plan
        shares = [
            len(range(each, plan.transactions, plan.producers)) for each in range(plan.producers)
        ]
        writers = [
            Writer(self._stage, f"writer-{number}").acts(share)
            for number, share in enumerate(shares)
        ]
        others = [Member(self._stage, f"loop-{number}").acts() for number in range(plan.members)]
        isolations = islice(cycle(Isolation), plan.readers)
        others += [read(self._stage, isolation) for isolation in isolations]
        try:
            while writers and not is_stopped():
                self._step(writers, others)
                on_step(self._stage.ended)
            self._drain(others, on_step, is_stopped)
        finally:
            for actor in writers + others:
                actor.close()  # consumers leave their group

    def finish(self) -> None:
        """Reads all there is, in both ways, and where the group stands."""
        plan = self._stage.plan
        self._stage.fence_all()
        self._settle(plan.inputs + plan.outputs)
        for isolation in Isolation:
            self._read_all(plan.inputs + plan.outputs, isolation)
        auditor = self._stage.member()
        try:
            if plan.members and not auditor.fetch_offsets(plan.group, plan.inputs):
                raise Stuck(f"the offsets of group {plan.group} cannot be fetched")
        finally:
            auditor.close()

    def _step(self, writers: list[Actor], others: list[Actor]) -> None:
        actor = self._stage.random.choice(writers + others)
        if next(actor, _ENDED) is _ENDED:
            writers.remove(actor)

    def _drain(
        self, actors: list[Actor], on_step: Callable[[int], None], is_stopped: IsStopped
    ) -> None:
        stage = self._stage
        if not stage.plan.members or is_stopped():
            return
        self._settle(stage.plan.inputs)
        ends: dict[TopicPartition, int] = {}
        for place, offset, _ in stage.clients.everything(stage.plan.inputs, read_committed=True):
            ends[TopicPartition(*place)] = offset + 1
        stage.wait_s, stage.moved_s = _WAIT_S, stage.elapsed_s()
        while not is_stopped():
            left = [each for each, end in ends.items() if stage.committed.get(each, 0) < end]
            if not left:
                return
            if stage.elapsed_s() - stage.moved_s > PATIENCE_S:
                at = stage.committed.get(left[0], 0)
                raise Stuck(f"the loop stands still at offset {at} of {left[0]}")
            next(stage.random.choice(actors))
            on_step(stage.ended)

    def _settle(self, partitions: list[TopicPartition]) -> None:
        if hanging := self._stage.clients.settle(partitions):
            raise Stuck(hanging)

    def _read_all(self, partitions: list[TopicPartition], isolation: Isolation) -> None:
        is_committed = isolation is Isolation.READ_COMMITTED
        found: dict[TopicPartition, list[tuple[int, str]]] = {each: [] for each in partitions}
        everything = self._stage.clients.everything(partitions, read_committed=is_committed)
        for place, offset, value in everything:
            found[TopicPartition(*place)].append((offset, value))
        for partition, records in found.items():
            for begin in range(0, max(1, len(records)), _PIECE):
                piece = tuple(records[begin : begin + _PIECE])
                self._stage.recorder.add(FinalRead(partition, isolation, piece))
