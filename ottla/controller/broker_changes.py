"""How the controller reacts to brokers that come, go, change, or ask to go in good order."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.controller.context import LiveBroker, Replica, TopicPartition
from ottla.controller.elections import Elected, elect_for_shutdown
from ottla.controller.events import BrokerModification
from ottla.controller.lists import split
from ottla.controller.loading import live_broker, load_brokers
from ottla.controller.reassigning import resume_reassignments
from ottla.controller.states import REPLICA_BEFORE, PartitionState, ReplicaState
from ottla.controller.term import Term
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.store import paths

UNKNOWN_BROKER_EPOCH = -1


async def brokers_changed(term: Term) -> None:
    """A broker with another epoch was away and is back: it has lost what it was told."""
    current = await load_brokers(term.fence)
    known = dict(term.context.brokers)
    new = {b: live for b, live in current.items() if b not in known}
    bounced = {b: live for b, live in current.items() if b in known and _bounced(live, known[b])}
    gone = [b for b in known if b not in current]
    if new:
        await _started(term, new)
    if bounced:
        await _failed(term, list(bounced))
        await _started(term, bounced)
    if gone:
        await _failed(term, gone)


def _bounced(now: LiveBroker, before: LiveBroker) -> bool:
    return now.epoch != before.epoch


async def broker_modified(term: Term, broker: int) -> None:
    entry = await term.fence.store.read(paths.broker(broker))
    before = term.context.brokers.get(broker)
    if entry is None or before is None:
        return  # it came or went, which is another event
    now = live_broker(broker, entry)
    if now.epoch == before.epoch and now != before:
        term.context.brokers[broker] = now
        term.batch.inform(term.context.brokers, ())
        await term.flush()


async def _started(term: Term, brokers: dict[int, LiveBroker]) -> None:
    context = term.context
    for broker in brokers:
        context.offline_dirs.pop(broker, None)
        term.senders.add(broker)
        term.watch_broker(broker)
    term.batch.inform(context.brokers, ())
    context.brokers.update(brokers)
    await term.flush()
    term.batch.inform(brokers, context.leaderships)
    await term.flush()
    replicas = _allowed(term, context.replicas_on(brokers), ReplicaState.ONLINE)
    term.replicas.go_online(replicas)
    await term.flush()
    await term.partitions.bring_online()
    await term.flush()
    await resume_reassignments(term, dict.fromkeys(r.at for r in replicas))
    waiting = {r.at.topic: None for r in replicas if r.at.topic in context.deleting}
    if waiting:
        await term.deletion.retry(waiting)


async def _failed(term: Term, brokers: Sequence[int]) -> None:
    for broker in brokers:
        term.context.brokers.pop(broker, None)
        term.context.offline_dirs.pop(broker, None)
        term.context.shutting_down.pop(broker, None)
        term.senders.remove(broker)
        term.stop_watching(BrokerModification(broker))
    await replicas_went_offline(term, term.context.replicas_on(brokers))


async def replicas_went_offline(term: Term, replicas: Sequence[Replica]) -> None:
    """New leaders first, for clients wait for them; then the in-sync sets of the others."""
    doomed, others = split(replicas, lambda r: r.at.topic in term.context.deleting)
    term.partitions.move(term.context.partitions_without_live_leader(), PartitionState.OFFLINE)
    await term.partitions.bring_online()
    await term.flush()
    await term.replicas.go_offline(_allowed(term, others, ReplicaState.OFFLINE))
    term.batch.inform(term.context.brokers, ())  # that the broker is gone, if nothing else
    await term.flush()
    if doomed:
        await term.deletion.failed(doomed)


def _allowed(term: Term, replicas: Sequence[Replica], state: ReplicaState) -> list[Replica]:
    before = REPLICA_BEFORE[state]
    return [replica for replica in replicas if term.context.replica_state(replica) in before]


async def shut_down(term: Term, broker: int, *, broker_epoch: int) -> list[TopicPartition]:
    """Moves leadership away from a broker; what it still leads, of what others could lead."""
    _check_epoch(term, broker, broker_epoch)
    context = term.context
    context.shutting_down[broker] = None
    shared = (
        replica
        for replica in context.replicas_on([broker])
        if replica.at in context.leaderships
        and len(context.replica_set(replica.at).replicas) > 1
        and replica.at.topic not in context.deleting
    )
    led, followed = split(shared, lambda r: context.leaderships[r.at].leader == broker)

    def successor(at: TopicPartition) -> Elected | None:
        voters = context.electorate(at, even_shutting_down=True)
        return elect_for_shutdown(voters, shutting_down=context.shutting_down)

    moved = await term.partitions.elect([replica.at for replica in led], successor)
    await term.flush()
    await term.replicas.go_offline(followed)
    await term.flush()
    return [at for at, is_moved in moved.items() if not is_moved]


def _check_epoch(term: Term, broker: int, broker_epoch: int) -> None:
    known = term.context.brokers.get(broker)
    if known is None:
        raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"Broker id {broker} does not exist.")
    if broker_epoch != UNKNOWN_BROKER_EPOCH and broker_epoch < known.epoch:
        raise KafkaError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"broker {broker} asks with epoch {broker_epoch}, but has registered anew since "
            f"with epoch {known.epoch}",
        )
