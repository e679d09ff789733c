"""What the HTTP port tells of groups: how they are now, and why they rebalanced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ottla.broker.query import Query
from ottla.coordinators.groups.forensics import Move, Rebalance
from ottla.coordinators.groups.witness import Who
from ottla.network.http import Answer, Route, json_answer

if TYPE_CHECKING:
    from ottla.broker.broker import Broker


def group_routes(broker: Broker) -> dict[str, Route]:
    return {
        "/debug/groups": lambda query: _groups(broker, query),
        "/debug/groups/history": lambda query: _history(broker, query),
    }


def _groups(broker: Broker, parameters: dict[str, str]) -> Answer:
    query = Query(parameters)
    query.nothing_but("group")
    if query.mistakes:
        return query.refusal()
    error, listed = broker.groups.list_groups()
    wanted = parameters.get("group")
    return json_answer(
        {
            "error": error.name,
            "groups": [
                _group(broker, each.group_id)
                for each in listed
                if wanted is None or each.group_id == wanted
            ],
        }
    )


def _group(broker: Broker, group_id: str) -> dict[str, Any]:
    group = broker.groups.describe(group_id)
    _, offsets = broker.groups.fetch(group_id, None)
    return {
        "group": group_id,
        "partition": broker.groups.partition_for(group_id),
        "state": group.state,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "committed_offsets": len(offsets),
        "members": [
            {
                "member_id": each.member_id,
                "instance_id": each.instance_id,
                "client_id": each.client_id,
                "host": each.client_host,
            }
            for each in group.members
        ],
    }


def _history(broker: Broker, parameters: dict[str, str]) -> Answer:
    query = Query(parameters)
    query.nothing_but("group")
    if query.mistakes:
        return query.refusal()
    found = broker.rebalances.rebalances(parameters.get("group"))
    return json_answer({"rebalances": [_rebalance(each) for each in found]})


def _rebalance(rebalance: Rebalance) -> dict[str, Any]:
    """As it tells itself, and its first cause and its moves in the fewest words."""
    document = rebalance.as_json()
    del document["moves"]
    first = rebalance.causes[0]
    return document | {
        "who": _who(first.who, first.reason),
        "moved": [_move(each) for each in rebalance.moves],
    }


def _who(who: Who | None, reason: str | None) -> dict[str, str | None] | None:
    if who is None:
        return None
    return {
        "member_id": who.member_id,
        "client_id": who.client_id,
        "host": who.client_host,
        "instance_id": who.instance_id,
        "reason": reason,
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "topic": move.topic,
        "partition": move.partition,
        "from": _name(move.was),
        "to": _name(move.now),
    }


def _name(who: Who | None) -> str | None:
    return None if who is None else who.instance_id or who.member_id
