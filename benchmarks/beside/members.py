"""Members of groups that do nothing but be there, for a driver to speak in their names."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.beside.admin import Admin
from benchmarks.drivers.group_frames import Committer
from ottla.protocol.apis.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from ottla.protocol.apis.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from ottla.protocol.apis.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from ottla.protocol.errors import ErrorCode

SESSION_MS = 60_000
_COORDINATOR_TIMEOUT_S = 120
_JOIN_VERSION = 3  # the last that is let in without having been given an id first
_SUBSCRIPTION = b"\0\0\0\0\0\1\0\1t\xff\xff\xff\xff"  # version 0, of the topic t
_NOT_YET = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


def wait_for_coordinator(admin: Admin, group: str) -> float:
    """When it first told what is committed, by `time.perf_counter`."""
    give_up = time.perf_counter() + _COORDINATOR_TIMEOUT_S
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    request = OffsetFetchRequest(group_id=group, topics=topics)
    while (now := time.perf_counter()) < give_up:
        error = admin.ask(request, 5, OffsetFetchResponse).error_code
        if not error:
            return now
        if error not in _NOT_YET:
            raise RuntimeError(f"offsets of {group}: {ErrorCode(error).name}")
        admin.find_coordinator(group)  # which creates the log of offsets
    raise TimeoutError(f"no coordinator of {group} after {_COORDINATOR_TIMEOUT_S} s")


@contextmanager
def members(admin: Admin, groups: Sequence[str]) -> Iterator[list[Committer]]:
    """One in each group, which leaves at the end."""
    joined = [_join(admin, group) for group in groups]
    try:
        yield joined
    finally:
        for who in joined:
            leaving = LeaveGroupRequest(group_id=who.group, member_id=who.member_id)
            admin.ask(leaving, 2, LeaveGroupResponse)


def _join(admin: Admin, group: str) -> Committer:
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=SESSION_MS,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=_SUBSCRIPTION)],
    )
    joined = admin.ask(request, _JOIN_VERSION, JoinGroupResponse)
    part = SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"")
    sync = SyncGroupRequest(
        group_id=group,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        assignments=[part],
    )
    synced = admin.ask(sync, 1, SyncGroupResponse)
    assert joined.error_code == synced.error_code == 0, (joined, synced)
    return Committer(group, joined.member_id, joined.generation_id)
