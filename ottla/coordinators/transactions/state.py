"""The states of a transactional id, by the numbers of the log and the names clients are shown."""

from __future__ import annotations

from enum import IntEnum


class TransactionState(IntEnum):
    EMPTY = 0  # no transaction since its producer was initialized
    ONGOING = 1
    PREPARE_COMMIT = 2  # decided; the markers are on their way
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6  # expired
    PREPARE_EPOCH_FENCE = 7  # its producer is being fenced; never in the log

    @property
    def wire_name(self) -> str:
        """As DescribeTransactions and ListTransactions write it: `PrepareCommit`."""
        return self.name.title().replace("_", "")


_S = TransactionState

BY_NAME = {state.wire_name: state for state in TransactionState}
IDLE = (_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT)
# Decided, and what they become once every partition has its marker.
COMPLETION = {_S.PREPARE_COMMIT: _S.COMPLETE_COMMIT, _S.PREPARE_ABORT: _S.COMPLETE_ABORT}

BEFORE: dict[TransactionState, tuple[TransactionState, ...]] = {
    _S.EMPTY: IDLE,
    _S.ONGOING: (*IDLE, _S.ONGOING),
    _S.PREPARE_COMMIT: (_S.ONGOING,),
    _S.PREPARE_ABORT: (_S.ONGOING, _S.PREPARE_EPOCH_FENCE),
    _S.COMPLETE_COMMIT: (_S.PREPARE_COMMIT,),
    _S.COMPLETE_ABORT: (_S.PREPARE_ABORT,),
    _S.DEAD: IDLE,
    _S.PREPARE_EPOCH_FENCE: (_S.ONGOING,),
}
