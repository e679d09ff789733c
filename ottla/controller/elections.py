"""Who becomes leader: one function for each occasion on which the controller chooses.

Each is given what is known of the partition and answers with the leader and in-sync replicas to
write, or None when nobody may lead. The epoch is raised by whoever writes it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Electorate:
    """A partition before an election; `live` are the replicas that are up with a healthy disk."""

    assigned: tuple[int, ...]
    isr: tuple[int, ...]
    live: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Elected:
    """`recipients` must hear of it; `unclean`: records may be lost, the leader was not in sync."""

    leader: int
    isr: tuple[int, ...]
    recipients: tuple[int, ...]
    unclean: bool = False


def elect_first(live: Sequence[int]) -> Elected | None:
    """For a new partition: whoever is first of those that live."""
    if not live:
        return None
    return Elected(leader=live[0], isr=tuple(live), recipients=tuple(live))


def elect_for_offline(voters: Electorate, *, unclean_allowed: bool) -> Elected | None:
    """The leader is gone. Without a live replica in sync, only an unclean election can help."""
    in_sync = [replica for replica in voters.assigned if _may_lead(voters, replica)]
    if in_sync:
        isr = tuple(replica for replica in voters.isr if replica in voters.live)
        return Elected(leader=in_sync[0], isr=isr, recipients=voters.live)
    if not unclean_allowed or not voters.live:
        return None
    leader = voters.live[0]
    return Elected(leader=leader, isr=(leader,), recipients=voters.live, unclean=True)


def elect_for_reassignment(voters: Electorate, *, target: Sequence[int]) -> Elected | None:
    """The replicas move: someone in sync among those that stay."""
    for replica in target:
        if _may_lead(voters, replica):
            return Elected(leader=replica, isr=voters.isr, recipients=tuple(target))
    return None


def elect_preferred(voters: Electorate) -> Elected | None:
    """The first assigned replica and nobody else."""
    preferred = voters.assigned[0]
    if not _may_lead(voters, preferred):
        return None
    return Elected(leader=preferred, isr=voters.isr, recipients=voters.assigned)


def elect_for_shutdown(voters: Electorate, *, shutting_down: Collection[int]) -> Elected | None:
    """A broker goes down in good order. `live` includes it: it still answers and must hear."""
    for replica in voters.assigned:
        if _may_lead(voters, replica) and replica not in shutting_down:
            isr = tuple(member for member in voters.isr if member not in shutting_down)
            return Elected(leader=replica, isr=isr, recipients=voters.live)
    return None


def _may_lead(voters: Electorate, replica: int) -> bool:
    return replica in voters.live and replica in voters.isr
