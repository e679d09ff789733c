"""States by their numbers and names, and which follow which."""

from __future__ import annotations

from ottla.coordinators.transactions.state import BEFORE, TransactionState

S = TransactionState


def test_states_have_the_numbers_of_the_log_and_the_names_that_tools_show() -> None:
    assert {state.value: state.wire_name for state in S} == {
        0: "Empty",
        1: "Ongoing",
        2: "PrepareCommit",
        3: "PrepareAbort",
        4: "CompleteCommit",
        5: "CompleteAbort",
        6: "Dead",
        7: "PrepareEpochFence",
    }


def test_each_state_follows_those_that_kafka_lets_it_follow() -> None:
    idle = {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT}
    assert {state: set(before) for state, before in BEFORE.items()} == {
        S.EMPTY: idle,
        S.ONGOING: {S.ONGOING, *idle},
        S.PREPARE_COMMIT: {S.ONGOING},
        S.PREPARE_ABORT: {S.ONGOING, S.PREPARE_EPOCH_FENCE},
        S.COMPLETE_COMMIT: {S.PREPARE_COMMIT},
        S.COMPLETE_ABORT: {S.PREPARE_ABORT},
        S.DEAD: idle,
        S.PREPARE_EPOCH_FENCE: {S.ONGOING},
    }
