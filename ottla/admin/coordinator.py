"""Asks the broker that coordinates a group or a transaction; looks for it again if it moved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from enum import IntEnum
from typing import TypeVar

from ottla.admin.cluster import Cluster
from ottla.admin.refusals import refusal
from ottla.network.client import UnsupportedVersion
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message

_ATTEMPTS = 8  # seven seconds in all, as long as the leaders of partitions are looked for
_LAST_VERSION_WITH_ONE_KEY = 3
_NEWEST = 0x7FFF
# Another broker, or the same one a moment later.
_PASSING = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)

A = TypeVar("A", bound=Message)
T = TypeVar("T")


class Coordinated(IntEnum):
    """Of what a coordinator is asked for; the wire's numbers."""

    GROUP = 0
    TRANSACTION = 1


async def ask_coordinator(
    cluster: Cluster,
    name: str,
    request: Message,
    answer: type[A],
    codes: Callable[[A], Iterable[int]],
    *,
    kind: Coordinated = Coordinated.GROUP,
    at_least: int = 0,
    at_most: int = _NEWEST,
) -> A:
    """`codes` finds the error codes in the answer. It may be asked twice, and must bear that."""

    async def ask() -> A:
        broker = await find_coordinator(cluster, name, kind=kind)
        return await cluster.ask_broker(broker, request, answer, at_least=at_least, at_most=at_most)

    return await ask_patiently(cluster, ask, codes)


async def ask_patiently(
    cluster: Cluster, ask: Callable[[], Awaitable[T]], codes: Callable[[T], Iterable[int]]
) -> T:
    """Again, for a limited time, while the coordinator moves or reads its log."""
    failure: Exception = KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    for attempt in range(_ATTEMPTS):
        await cluster.back_off(attempt)
        try:
            given = await ask()
        except KafkaError as refused:
            if refused.code not in _PASSING:
                raise
            failure = refused
            continue
        except OSError as cause:  # it is gone, and the others do not know yet
            failure = cause
            continue
        passing = [code for code in codes(given) if code in _PASSING]
        if not passing:
            return given
        failure = refusal(passing[0])
    raise failure


async def find_coordinator(
    cluster: Cluster, name: str, *, kind: Coordinated = Coordinated.GROUP
) -> int:
    """The id of the broker. Asking for the first one of all makes the topic they are kept in."""
    request = FindCoordinatorRequest(key=name, key_type=kind)
    try:
        found = await cluster.ask_any(
            request,
            FindCoordinatorResponse,
            # Before version 1 there were only groups.
            at_least=1 if kind else 0,
            at_most=_LAST_VERSION_WITH_ONE_KEY,
        )
    except UnsupportedVersion as cause:
        raise UnsupportedVersion(f"{cause.detail}: it has no {kind.name.lower()}s yet") from cause
    if found.error_code != ErrorCode.NONE:
        raise refusal(found.error_code, found.error_message)
    return found.node_id
