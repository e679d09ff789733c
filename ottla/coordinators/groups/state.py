"""The states of a group, by the names that DescribeGroups and ListGroups show."""

from __future__ import annotations

from enum import Enum


class GroupState(Enum):
    PREPARING_REBALANCE = "PreparingRebalance"  # waiting for members to join
    COMPLETING_REBALANCE = "CompletingRebalance"  # waiting for the leader's assignment
    STABLE = "Stable"
    EMPTY = "Empty"  # no members; there may be offsets
    DEAD = "Dead"  # deleted, or another broker's by now


_S = GroupState

BEFORE: dict[GroupState, tuple[GroupState, ...]] = {
    _S.PREPARING_REBALANCE: (_S.STABLE, _S.COMPLETING_REBALANCE, _S.EMPTY),
    _S.COMPLETING_REBALANCE: (_S.PREPARING_REBALANCE,),
    _S.STABLE: (_S.COMPLETING_REBALANCE,),
    _S.EMPTY: (_S.PREPARING_REBALANCE,),
    _S.DEAD: tuple(_S),
}
