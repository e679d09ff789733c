"""Elections that somebody asks for: an admin, Kafka's old tool, or the balance of leaders."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.controller.balance import out_of_balance
from ottla.controller.context import ControllerContext, TopicPartition
from ottla.controller.elections import Elected, elect_for_offline, elect_preferred
from ottla.controller.events import ElectionResult, ElectionType
from ottla.controller.term import Term
from ottla.protocol.errors import ErrorCode
from ottla.store import paths
from ottla.store.znodes import PreferredReplicaElection

Results = dict[TopicPartition, ElectionResult]

_FAILED = {
    ElectionType.PREFERRED: (ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "the preferred replica"),
    ElectionType.UNCLEAN: (ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "any live replica"),
}


async def elect_leaders(
    term: Term, election_type: ElectionType, partitions: Iterable[TopicPartition] | None
) -> Results:
    """A result for every partition that was asked for, or for all there are."""
    context = term.context
    wanted = list(context.all_partitions() if partitions is None else partitions)
    results = {at: _refused(context, at, election_type) for at in wanted}
    needed = [at for at, refused in results.items() if refused is None]

    def choose(at: TopicPartition) -> Elected | None:
        voters = context.electorate(at)
        if election_type is ElectionType.PREFERRED:
            return elect_preferred(voters)
        return elect_for_offline(voters, unclean_allowed=True)

    elected = await term.partitions.elect(needed, choose)
    await term.flush()
    return {
        at: refused or _outcome(at, election_type, has_leader=elected[at])
        for at, refused in results.items()
    }


def _refused(
    context: ControllerContext, at: TopicPartition, election_type: ElectionType
) -> ElectionResult | None:
    if not context.knows(at):
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ElectionResult(code, "The partition does not exist.")
    if at.topic in context.deleting:
        return ElectionResult(ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic is being deleted")
    known = context.leaderships.get(at)
    leader = known.leader if known else None
    if election_type is ElectionType.PREFERRED:
        is_needed = leader != context.replica_set(at).replicas[0]
    else:
        is_needed = leader not in context.brokers or leader in context.shutting_down
    if is_needed:
        return None
    message = "Leader election not needed for topic partition."
    return ElectionResult(ErrorCode.ELECTION_NOT_NEEDED, message)


def _outcome(
    at: TopicPartition, election_type: ElectionType, *, has_leader: bool
) -> ElectionResult:
    if has_leader:
        return ElectionResult(ErrorCode.NONE)
    code, whom = _FAILED[election_type]
    message = f"Failed to elect {whom} as leader for partition {at.topic}-{at.partition}"
    return ElectionResult(code, message)


async def balance_leaders(term: Term) -> None:
    percentage = term.settings.leader_imbalance_per_broker_percentage
    candidates = out_of_balance(term.context, percentage_per_broker=percentage)
    if candidates:
        await elect_leaders(term, ElectionType.PREFERRED, candidates)


async def preferred_election_requested(term: Term) -> None:
    """The znode is taken away when done: that is how the tool sees it."""
    entry = await term.fence.store.read(paths.PREFERRED_REPLICA_ELECTION)
    if entry is None:
        return
    asked = PreferredReplicaElection.decode(entry.data).partitions
    await elect_leaders(
        term, ElectionType.PREFERRED, [TopicPartition(topic, index) for topic, index in asked]
    )
    await term.fence.delete([paths.PREFERRED_REPLICA_ELECTION])
