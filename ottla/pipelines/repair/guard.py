"""Stands between a checkpoint and its topics: nothing is lost without somebody having said so.

Kept in guard.json: which topics they were (by id, where the cluster has ids), how many partitions
they had and where these ended, when we last looked; and an acceptance until it is carried out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ottla.pipelines.folder import Folder
from ottla.pipelines.kafka import Cluster, KnownTopic, Place
from ottla.pipelines.reading.tally import MINUTE_MS
from ottla.pipelines.repair.checkpoint import Checkpoint
from ottla.pipelines.repair.entry import AcceptedLoss, flat, nested
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.repair.losses import Cause, DataLoss, Loss, Sight, find_losses
from ottla.pipelines.topic_records import read_records

_FILE = "guard.json"


class CannotAccept(Exception):
    """There is nothing to go on with; the message says what to do instead."""


@dataclass(frozen=True, slots=True)
class _Kept:
    sight: Sight = field(default_factory=Sight)
    accepting: AcceptedLoss | None = None


class Guard:
    def __init__(self, folder: Folder, cluster: Cluster, ledger: Ledger | None = None) -> None:
        """With the ledger it can tell when the last record was written that was read."""
        self._folder = folder
        self._cluster = cluster
        self._ledger = ledger

    def check(self, next_offsets: Mapping[Place, int]) -> None:
        """DataLoss if it cannot go on there; else what was seen is kept."""
        if not next_offsets:
            return  # no source is a topic
        kept = self._load()
        if kept.accepting is not None:
            raise DataLoss(kept.accepting.losses)
        seen = self._look([*next_offsets])
        if losses := find_losses(next_offsets, kept=kept.sight, seen=seen):
            raise DataLoss(self._dated(losses, seen))
        self._keep(_Kept(seen))

    def restored(self, next_offsets: Mapping[Place, int]) -> None:
        """Topics made anew hold what the old ones held, at the same offsets: says the operator.

        DataLoss if the next records cannot be there.
        """
        seen = self._look([*next_offsets])
        if losses := find_losses(next_offsets, kept=Sight(), seen=seen):
            raise DataLoss(self._dated(losses, seen))
        self._keep(_Kept(seen))

    def remember(self, places: Sequence[Place]) -> None:
        """As they are now, whatever they were before."""
        self._keep(_Kept(self._look(places)))

    def accept(self, checkpoint: Checkpoint, ledger: Ledger, *, now_ms: int) -> tuple[Loss, ...]:
        """Lets the query go on behind what is lost, with its state and its batch numbers.

        Killed at any step, it is done by calling it again. No query may run meanwhile.
        """
        kept = self._load()
        accepted = kept.accepting or self._judge(checkpoint, kept, now_ms=now_ms)
        if not accepted.losses:
            return ()
        self._keep(replace(kept, accepting=accepted))
        ledger.record_loss(accepted)
        _move(checkpoint, accepted)
        self.remember([*checkpoint.offsets(accepted.batch)])
        return accepted.losses

    def _judge(self, checkpoint: Checkpoint, kept: _Kept, *, now_ms: int) -> AcceptedLoss:
        batch = checkpoint.last_committed()
        if batch is None:
            raise CannotAccept("No batch was finished, so there is nothing to keep: reset it.")
        next_offsets = checkpoint.offsets(batch)
        seen = self._look([*next_offsets])
        losses = find_losses(next_offsets, kept=kept.sight, seen=seen)
        if gone := [loss.topic for loss in losses if loss.cause is Cause.NO_TOPIC]:
            raise CannotAccept(f"Topic {gone[0]} is gone: create it again, or reset the pipeline.")
        return AcceptedLoss(batch, now_ms, tuple(self._dated(losses, seen)))

    def _look(self, places: Sequence[Place]) -> Sight:
        topics = self._cluster.topics(sorted(dict.fromkeys(topic for topic, _ in places)))
        there = [(name, each) for name in topics for each in range(topics[name].partitions)]
        return Sight(topics, self._cluster.starts(there), self._cluster.ends(there))

    def _dated(self, losses: Sequence[Loss], seen: Sight) -> list[Loss]:
        read = self._last_read_ms([loss.place for loss in losses])
        return [
            replace(loss, after_ms=read.get(loss.place), before_ms=self._first_ms(loss, seen))
            for loss in losses
        ]

    def _last_read_ms(self, places: Sequence[Place]) -> dict[Place, int]:
        """To the minute, as the ledger knows it."""
        found: dict[Place, int] = {}
        for entry in self._ledger.newest_first() if self._ledger is not None else ():
            minutes = {slot[:2]: slot.minute * MINUTE_MS for slot in sorted(entry.tally_in.counts)}
            found = {**minutes, **found}
            if all(place in found for place in places):
                break
        return found

    def _first_ms(self, loss: Loss, seen: Sight) -> int | None:
        if loss.goes_on_at is None:
            return None
        left = read_records(
            self._cluster, {loss.place: (seen.starts[loss.place], seen.ends[loss.place])}
        )
        return next((record.timestamp_ms for record in left), None)

    def _load(self) -> _Kept:
        data = self._folder.read(_FILE)
        if data is None:
            return _Kept()
        told: dict[str, Any] = json.loads(data)
        topics = {name: KnownTopic(**each) for name, each in told["topics"].items()}
        accepting = told["accepting"]
        return _Kept(
            Sight(topics, flat(told["starts"]), flat(told["ends"])),
            None if accepting is None else AcceptedLoss.from_json(accepting),
        )

    def _keep(self, kept: _Kept) -> None:
        sight, accepting = kept.sight, kept.accepting
        told = {
            "topics": {name: topic._asdict() for name, topic in sight.topics.items()},
            "starts": nested(sight.starts),
            "ends": nested(sight.ends),
            "accepting": None if accepting is None else accepting.to_json(),
        }
        self._folder.write(_FILE, json.dumps(told, separators=(",", ":")).encode())


def _move(checkpoint: Checkpoint, accepted: AcceptedLoss) -> None:
    """A batch that was planned and not finished is repeated: what is left of it, or nothing.

    It cannot be planned anew, for a sink that holds it already will not take it again.
    """
    planned = checkpoint.last_planned()
    deleted = [loss for loss in accepted.losses if loss.cause is Cause.DELETED]
    others = [loss for loss in accepted.losses if loss.cause is not Cause.DELETED]
    for batch in dict.fromkeys((accepted.batch, planned or accepted.batch)):
        # The same log, of which the planned batch and a second source may have read more.
        checkpoint.replace_offsets(batch, _targets(deleted), only_forwards=True)
        checkpoint.replace_offsets(batch, _targets(others))


def _targets(losses: Sequence[Loss]) -> dict[Place, int | None]:
    return {loss.place: loss.goes_on_at for loss in losses}
