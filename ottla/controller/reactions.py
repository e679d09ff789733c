"""Which reaction follows which event, while we are the active controller."""

from __future__ import annotations

import asyncio
from typing import TypeVar, assert_never

from ottla.controller import events
from ottla.controller.broker_changes import broker_modified, brokers_changed, shut_down
from ottla.controller.events import Event, Request
from ottla.controller.leader_elections import (
    balance_leaders,
    elect_leaders,
    preferred_election_requested,
)
from ottla.controller.notifications import (
    deletions_answered,
    isr_changed,
    log_dirs_failed,
    replicas_answered,
)
from ottla.controller.reassigning import (
    alter_reassignments,
    reassignment_requested,
    resume_reassignments,
)
from ottla.controller.term import Term
from ottla.controller.topic_changes import (
    deletions_requested,
    partitions_modified,
    topics_changed,
)
from ottla.protocol.errors import KafkaError

T = TypeVar("T")

# Those that say nothing but that it is time to look.
_LOOKS = {
    events.BrokerChange(): brokers_changed,
    events.TopicChange(): topics_changed,
    events.TopicDeletionRequest(): deletions_requested,
    events.IsrChangeNotification(): isr_changed,
    events.LogDirFailure(): log_dirs_failed,
    events.PreferredElectionRequest(): preferred_election_requested,
    events.ReassignmentRequest(): reassignment_requested,
    events.ReassignmentResumption(): resume_reassignments,
    events.BalanceLeaders(): balance_leaders,
}


async def react(term: Term, event: Event) -> None:
    match event:
        case events.BrokerModification(broker):
            await broker_modified(term, broker)
        case events.PartitionModification(topic):
            await partitions_modified(term, topic)
        case events.ReplicaAnswers(broker, answer):
            await replicas_answered(term, broker, answer)
        case events.DeletionAnswers(broker, stopped, asked):
            await deletions_answered(term, broker, stopped, asked)
        case (
            events.LeaderElection() | events.ReassignmentAlteration() | events.ControlledShutdown()
        ):
            await _fulfil(term, event)
        case _:
            await _LOOKS[event](term)


async def _fulfil(term: Term, request: Request) -> None:
    match request:
        case events.LeaderElection(election_type, partitions, elected):
            _answer(elected, await elect_leaders(term, election_type, partitions))
        case events.ReassignmentAlteration(wanted, altered):
            _answer(altered, await alter_reassignments(term, wanted))
        case events.ControlledShutdown(broker, broker_epoch, left):
            try:
                _answer(left, await shut_down(term, broker, broker_epoch=broker_epoch))
            except KafkaError as refusal:
                left.set_exception(refusal)
        case _:
            assert_never(request)


def _answer(done: asyncio.Future[T], result: T) -> None:
    if not done.done():  # whoever asked may have gone away meanwhile
        done.set_result(result)
