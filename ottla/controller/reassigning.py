"""Carries reassignments out: new replicas are started, and when they are in sync the old go.

Each step may be done again: whoever becomes controller half-way goes on from what is stored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from ottla.controller.context import Replica, ReplicaSet, TopicPartition
from ottla.controller.elections import Elected, elect_for_reassignment
from ottla.controller.events import ReassignmentResult
from ottla.controller.reassignment import Brokers, has_arrived, plan, target
from ottla.controller.states import REPLICA_BEFORE, ReplicaState
from ottla.controller.term import Term
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.store import paths
from ottla.store.port import Write
from ottla.store.znodes import ReassignPartitions

log = logging.getLogger(__name__)


async def alter_reassignments(
    term: Term, wanted: Mapping[TopicPartition, Brokers | None]
) -> dict[TopicPartition, ReassignmentResult]:
    """Started, done at once, or taken back; an outcome for each partition."""
    outcomes: dict[TopicPartition, ReassignmentResult] = {}
    for at, to in wanted.items():
        try:
            await _reassign(term, at, plan(term.context, at, to))
            outcomes[at] = ReassignmentResult(ErrorCode.NONE)
        except KafkaError as refusal:
            outcomes[at] = ReassignmentResult(refusal.code, refusal.detail)
    await _settle_request(term)
    return outcomes


async def reassignment_requested(term: Term) -> None:
    """Kafka's old tool asks by a node in the store, which stays until all of it is done."""
    entry = await term.fence.store.read(paths.REASSIGN_PARTITIONS)
    if entry is None:
        return
    asked = ReassignPartitions.decode(entry.data).replicas
    wanted = {TopicPartition(*at): to for at, to in asked.items()}
    outcomes = await alter_reassignments(
        term, {at: to for at, to in wanted.items() if not _is_going_there(term, at, to)}
    )
    for at, outcome in outcomes.items():
        if outcome.code is not ErrorCode.NONE:
            log.warning("%s-%d is not reassigned: %s", *at, outcome.message)


def _is_going_there(term: Term, at: TopicPartition, to: Brokers) -> bool:
    return at in term.context.reassigned and target(term.context.replica_set(at)) == to


async def resume_reassignments(
    term: Term, partitions: Iterable[TopicPartition] | None = None
) -> None:
    """Of these partitions, or of all: their replicas or in-sync sets are not as before."""
    context = term.context
    looked_at = context.reassigned if partitions is None else partitions
    moving = [at for at in looked_at if at in context.reassigned]
    for at in moving:
        await _reassign(term, at, context.replica_set(at))
    if moving:
        await _settle_request(term)


async def _reassign(term: Term, at: TopicPartition, to: ReplicaSet) -> None:
    before = term.context.replica_set(at)
    if before != to:
        await _assign(term, at, to)
        # Added for a reassignment that another one has replaced.
        await _remove(term, at, [b for b in before.replicas if b not in to.replicas])
    # A leader writes its in-sync set itself, and we hear of it later.
    current = await term.states.read([at])
    term.context.leaderships.update(current)
    if has_arrived(to, current[at].isr if at in current else ()):
        await _finish(term, at)
    else:
        await _start_new_replicas(term, at)


async def _assign(term: Term, at: TopicPartition, replicas: ReplicaSet) -> None:
    await term.records.assign(at, replicas)
    term.context.assign(at, replicas)


async def _start_new_replicas(term: Term, at: TopicPartition) -> None:
    """A new epoch: until all have heard it, nobody takes the larger set for the smaller."""
    replicas = term.context.replica_set(at)
    await _tell(term, at, replicas.replicas)
    new = [Replica(at, broker) for broker in replicas.adding]
    term.replicas.become_new(_allowed(term, new, ReplicaState.NEW))
    await term.flush()


async def _finish(term: Term, at: TopicPartition) -> None:
    """Who stays leads before anybody goes, and the store hears of it when all have gone."""
    before = term.context.replica_set(at)
    stay = target(before)
    staying = [Replica(at, broker) for broker in stay]
    term.replicas.go_online(_allowed(term, staying, ReplicaState.ONLINE))
    term.context.assign(at, ReplicaSet(stay))
    if not await _tell(term, at, stay):
        term.context.assign(at, before)  # nobody can lead: when somebody is back, again
        return
    await term.flush()
    await _remove(term, at, before.removing)
    await _assign(term, at, ReplicaSet(stay))
    term.batch.inform(term.context.brokers, [at])
    await term.flush()
    await term.deletion.retry([at.topic])


async def _tell(term: Term, at: TopicPartition, recipients: Brokers) -> bool:
    """Raises the epoch; the leader stays if it may, else one of the recipients leads."""
    context = term.context

    def choose(at: TopicPartition) -> Elected | None:
        known = context.leaderships[at]
        if known.leader in recipients and context.is_online(Replica(at, known.leader)):
            return Elected(leader=known.leader, isr=known.isr, recipients=recipients)
        return elect_for_reassignment(context.electorate(at), target=recipients)

    return (await term.partitions.elect([at], choose))[at]


async def _remove(term: Term, at: TopicPartition, brokers: Iterable[int]) -> None:
    """They stop, then delete their files; nobody waits for that."""
    replicas = [Replica(at, broker) for broker in brokers]
    if replicas:
        await term.replicas.go_offline(_allowed(term, replicas, ReplicaState.OFFLINE))
        await term.flush()
        term.replicas.start_deletion(_allowed(term, replicas, ReplicaState.DELETION_STARTED))
        await term.flush()
        for replica in replicas:
            term.context.replica_states.pop(replica, None)


def _allowed(term: Term, replicas: Iterable[Replica], state: ReplicaState) -> list[Replica]:
    before = REPLICA_BEFORE[state]
    return [replica for replica in replicas if term.context.replica_state(replica) in before]


async def _settle_request(term: Term) -> None:
    """Of the old tool's node stays what is still under way: that is how the tool sees it."""
    path = paths.REASSIGN_PARTITIONS
    entry = await term.fence.store.read(path)
    if entry is None:
        return
    asked = ReassignPartitions.decode(entry.data).replicas
    left = {at: to for at, to in asked.items() if TopicPartition(*at) in term.context.reassigned}
    if not left:
        await term.fence.delete([path])
    elif left != asked:
        await term.fence.multi([Write(path, ReassignPartitions(left).encode(), entry.version)])
