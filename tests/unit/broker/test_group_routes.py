"""What the HTTP port and the metrics tell of groups."""

from __future__ import annotations

import json
from typing import Any

from ottla.broker.group_routes import group_routes
from ottla.broker.idleness import Idleness
from ottla.broker.metering import gather
from ottla.broker.stalls import Stalls
from tests.unit.handlers.group_client import GROUP, Member, commit, coordinated, member_of
from tests.unit.handlers.one_broker import OneBroker
from tests.virtual_time import on_virtual_time, virtual_loop


def asked(broker: OneBroker, path: str, **parameters: str) -> tuple[int, Any]:
    status, kind, body = group_routes(broker.broker)[path](parameters)
    assert isinstance(body, bytes)
    return status, json.loads(body) if kind == "application/json" else body.decode()


@on_virtual_time
async def test_groups_are_told_with_their_members_and_how_much_they_committed() -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        _, document = asked(broker, "/debug/groups")
        [group] = document["groups"]
        assert (group["group"], group["state"], group["protocol"]) == (GROUP, "Stable", "range")
        assert [each["member_id"] for each in group["members"]] == [member.id]
        await member.leave()
        await commit(broker, 5)
        _, document = asked(broker, "/debug/groups", group=GROUP)
        [group] = document["groups"]
        assert (group["state"], group["committed_offsets"], group["members"]) == ("Empty", 1, [])
        assert asked(broker, "/debug/groups", group="nobody")[1]["groups"] == []


@on_virtual_time
async def test_the_history_tells_who_caused_a_rebalance() -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        await member.leave()
        _, document = asked(broker, "/debug/groups/history", group=GROUP)
        joined, left = document["rebalances"]
        assert (joined["cause"], left["cause"]) == ("member joined", "member left")
        assert (joined["generation_before"], joined["generation_after"]) == (0, 1)
        assert joined["who"]["member_id"] == member.id
        assert joined["who"]["host"] == "/test"
        assert joined["moved"] == []
        assert asked(broker, "/debug/groups/history", group="nobody") == (200, {"rebalances": []})


@on_virtual_time
async def test_a_parameter_that_is_unknown_is_refused_with_the_nearest() -> None:
    async with coordinated() as broker:
        status, text = asked(broker, "/debug/groups/history", groop=GROUP)
        assert (status, text) == (400, "parameter 'groop' is unknown; did you mean group?\n")
        assert asked(broker, "/debug/groups", state="x")[0] == 400


@on_virtual_time
async def test_groups_are_counted_by_their_states_under_kafkas_names() -> None:
    async with coordinated() as broker:
        broker.broker.stalls = Stalls(virtual_loop())
        broker.broker.idleness = Idleness(virtual_loop(), lambda: 0)
        await member_of(broker)
        await Member(broker).join(4)  # a group of its own would need another name
        lines = gather(broker.broker).render().decode().splitlines()
        bean = "kafka_coordinator_group_groupmetadatamanager"
        found = {line.split()[0].lower(): line.split()[1] for line in lines if line[0] != "#"}
        assert found[f"{bean}_numgroups"] == "1.0"
        assert found[f"{bean}_numgroupsstable"] == "1.0"
        assert found[f"{bean}_numgroupsempty"] == "0.0"
