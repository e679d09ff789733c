"""What a controller counts of its work, over all its terms; read by the metrics."""

from __future__ import annotations

from dataclasses import dataclass, field

from ottla.controller import events
from ottla.controller.events import Event
from ottla.metrics import TIMES_MS, Histogram

IDLE = 0
# Kafka's numbers for what a controller is busy with.
_STATES: dict[type, int] = {
    events.ControllerChange: 1,
    events.SessionExpired: 1,
    events.BrokerChange: 2,
    events.BrokerModification: 2,
    events.TopicChange: 3,
    events.PartitionModification: 3,
    events.TopicDeletionRequest: 4,
    events.DeletionAnswers: 4,
    events.ReassignmentRequest: 5,
    events.ReassignmentResumption: 5,
    events.ReassignmentAlteration: 5,
    events.BalanceLeaders: 6,
    events.PreferredElectionRequest: 7,
    events.LeaderElection: 7,
    events.ControlledShutdown: 8,
    events.IsrChangeNotification: 9,
    events.ReplicaAnswers: 10,
    events.LogDirFailure: 11,
}


@dataclass(slots=True)
class ControllerStats:
    unclean_elections: int = 0
    queued_ms: Histogram = field(default_factory=lambda: Histogram(TIMES_MS))
    # Kafka's name for what it takes to go on when brokers came or went.
    elections_ms: Histogram = field(default_factory=lambda: Histogram(TIMES_MS))

    def worked_off(self, event: Event, *, put_ns: int, begun_ns: int, ended_ns: int) -> None:
        self.queued_ms.observe((begun_ns - put_ns) / 1e6)
        if isinstance(event, events.BrokerChange):
            self.elections_ms.observe((ended_ns - begun_ns) / 1e6)


def state_number(event: Event | None) -> int:
    return IDLE if event is None else _STATES[type(event)]
