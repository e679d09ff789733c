"""The states of a partition and of a replica, and which may follow which.

The numbers are Kafka's, as its metrics and logs show them.
"""

from __future__ import annotations

from enum import IntEnum


class PartitionState(IntEnum):
    NEW = 0
    ONLINE = 1
    OFFLINE = 2
    NON_EXISTENT = 3


class ReplicaState(IntEnum):
    NEW = 1
    ONLINE = 2
    OFFLINE = 3
    DELETION_STARTED = 4
    DELETION_SUCCESSFUL = 5
    DELETION_INELIGIBLE = 6
    NON_EXISTENT = 7


_P = PartitionState
_R = ReplicaState

PARTITION_BEFORE: dict[PartitionState, tuple[PartitionState, ...]] = {
    _P.NON_EXISTENT: (_P.OFFLINE,),
    _P.NEW: (_P.NON_EXISTENT,),
    _P.ONLINE: (_P.NEW, _P.ONLINE, _P.OFFLINE),
    _P.OFFLINE: (_P.NEW, _P.ONLINE, _P.OFFLINE),
}

REPLICA_BEFORE: dict[ReplicaState, tuple[ReplicaState, ...]] = {
    _R.NEW: (_R.NON_EXISTENT,),
    _R.ONLINE: (_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE),
    _R.OFFLINE: (_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE),
    _R.DELETION_STARTED: (_R.OFFLINE,),
    _R.DELETION_SUCCESSFUL: (_R.DELETION_STARTED,),
    _R.DELETION_INELIGIBLE: (_R.OFFLINE, _R.DELETION_STARTED),
    _R.NON_EXISTENT: (_R.DELETION_SUCCESSFUL,),
}
