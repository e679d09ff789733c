"""The life of classic groups: joining, agreeing, staying, leaving, and every refusal of it."""

from __future__ import annotations

from functools import partial

from tests.differential.case import Case
from tests.differential.case import case as plain_case
from tests.differential.group_requests import (
    SUBSCRIPTION,
    Of,
    commit,
    describe,
    fetch_offsets,
    heartbeat,
    join,
    joined,
    leave,
    list_groups,
    member,
    parked,
    sync,
    via,
)

case = partial(plain_case, needs_coordinator=True)
ONE, TWO = member(1), member(2)
NEWEST_JOIN = 9
TWO_PROTOCOLS = (("range", SUBSCRIPTION), ("sticky", b"s"))
OTHER_PROTOCOLS = (("roundrobin", b"r"), ("sticky", b"t"))
ALONE = (*joined(), sync(3, ONE, assignments={ONE: b"all"}))
# The second comes while the first is stable, and both agree on generation 2.
BOTH = (
    *ALONE,
    via("b", join(5, protocols=TWO_PROTOCOLS[:1])),
    parked("b", join(5, TWO)),
    heartbeat(3, ONE),
    join(5, ONE),
)
STATIC = (join(5, instance="i"), sync(3, ONE, assignments={ONE: b"all"}, instance="i"))

_LIVES = tuple(
    case(
        f"group-life-v{v}",
        *joined(v),
        sync(min(v, 5), ONE, assignments={ONE: b"all"}),
        heartbeat(min(v, 4), ONE),
        describe(min(v, 5)),
        commit(max(v, 1), Of(7, metadata="note"), who=ONE, generation=1),
        fetch_offsets(max(v, 1), Of(), Of(partition=1)),
        list_groups(min(v, 5)),
        leave(min(v, 5), ONE),
        describe(min(v, 5)),
        heartbeat(min(v, 4), ONE),
        topics=["t"],
    )
    for v in range(NEWEST_JOIN + 1)
)
_JOINING = (
    *(
        case(f"group-no-group-v{v}", join(v, group="="), join(v, "nobody"),
             join(v, "nobody", group="="))
        for v in (0, 3, 4, 5, 6, 7, 9)
    ),
    *(
        case(f"group-session-timeout-v{v}", join(v, session_ms=5_999),
             join(v, session_ms=1_800_001), join(v, session_ms=0), join(v, session_ms=-1),
             join(v, session_ms=6_000), describe(0))
        for v in (0, 3, 7, 9)
    ),
    *(
        case(f"group-no-protocol-v{v}", join(v, protocols=()), join(v, protocol_type=""),
             join(v, protocols=(("", b""),)), describe(0))
        for v in (0, 3, 5, 7)
    ),
    case("group-other-protocol", *ALONE, via("b", join(3, protocol_type="connect")),
         via("b", join(3, protocols=(("other", b""),))), via("b", join(7, protocol_type="connect")),
         via("b", join(7, protocols=())), describe(5)),
    case("group-rejoin-as-leader", *ALONE, join(5, ONE), describe(5), heartbeat(3, ONE),
         heartbeat(3, ONE, 2), sync(3, ONE, 2), describe(5)),
    case("group-rejoin-while-completing", *joined(), join(5, ONE), join(5, ONE), describe(5)),
    case("group-rejoin-with-other-metadata", *joined(), join(5, ONE, protocols=TWO_PROTOCOLS),
         describe(5)),
    case("group-reasons", *joined(8, reason="because"), join(9, ONE, reason="x" * 300)),
    case("group-unknown-member", *ALONE, join(5, "nobody"), sync(3, "nobody"),
         heartbeat(3, "nobody"), leave(0, "nobody"), leave(3, "nobody"),
         commit(7, Of(), who="nobody", generation=1), describe(5), topics=["t"]),
    case("group-wrong-generation", *ALONE, sync(3, ONE, 0), sync(3, ONE, 2), sync(3, ONE, -1),
         heartbeat(3, ONE, 0), heartbeat(3, ONE, 2), heartbeat(3, ONE, -1),
         commit(7, Of(), who=ONE, generation=0), commit(7, Of(), who=ONE, generation=2),
         commit(7, Of(), who=ONE), topics=["t"]),
    case("group-pending-holds-others-up", *ALONE, via("b", join(5)), describe(5),
         parked("", join(5, ONE)), via("c", describe(5)), via("b", leave(3, TWO)),
         heartbeat(3, ONE, 2)),
    case("group-pending-is-no-member", join(5), heartbeat(3, ONE, -1), sync(3, ONE, -1),
         commit(7, Of(), who=ONE, generation=-1), heartbeat(3, ONE, 0), describe(5), leave(0, ONE),
         describe(5), topics=["t"]),
)  # fmt: skip
_AGREEING = (
    case("group-of-two", *BOTH, parked("b", sync(3, TWO, 2)),
         sync(3, ONE, 2, {ONE: b"first", TWO: b"second"}), via("b", heartbeat(3, TWO, 2)),
         describe(5), via("b", sync(3, TWO, 2)), sync(3, ONE, 2), sync(3, ONE, 2, {ONE: b"else"}),
         via("b", leave(3, TWO)), heartbeat(3, ONE, 2), join(5, ONE), describe(5)),
    case("group-follower-rejoins", *BOTH, sync(3, ONE, 2, {ONE: b"first", TWO: b"second"}),
         via("b", sync(3, TWO, 2)), via("b", join(5, TWO)), describe(5), heartbeat(3, ONE, 2)),
    case("group-votes", *joined(protocols=TWO_PROTOCOLS),
         via("b", join(5, protocols=OTHER_PROTOCOLS)),
         parked("b", join(5, TWO, protocols=OTHER_PROTOCOLS)),
         join(5, ONE, protocols=TWO_PROTOCOLS), via("b", sync(5, TWO, 2, protocol="range")),
         sync(5, ONE, 2, protocol_type="connect", protocol="sticky"),
         sync(5, ONE, 2, {TWO: b"x"}, protocol_type="consumer", protocol="sticky"),
         via("b", sync(5, TWO, 2)), describe(5)),
    case("group-sync-while-preparing", *ALONE, via("b", join(5)), parked("b", join(5, TWO)),
         sync(3, ONE), heartbeat(3, ONE), commit(7, Of(3), who=ONE, generation=1),
         describe(5), leave(3, ONE), via("b", heartbeat(3, TWO, 2)), topics=["t"]),
    case("group-commit-while-completing", *joined(), heartbeat(3, ONE),
         commit(7, Of(), who=ONE, generation=1), commit(1, Of(), who=ONE, generation=1),
         describe(0), topics=["t"]),
    case("group-leave-while-completing", *joined(), leave(1, ONE), describe(5),
         sync(3, ONE, assignments={ONE: b"all"})),
    case("group-empty-again", *ALONE, leave(3, ONE), sync(3, ONE), heartbeat(3, ONE),
         commit(7, Of(), who=ONE, generation=1), commit(7, Of(5)), join(5, ONE), *joined()[:1],
         join(5, TWO), sync(3, TWO, 3), describe(5), topics=["t"]),
    case("group-sync-names-strangers", *joined(), sync(3, ONE, 1, {"stranger": b"x"}),
         sync(3, ONE), describe(5)),
    case("group-parked-sync-hears-of-rebalance", *BOTH, parked("b", sync(3, TWO, 2)),
         join(5, ONE), sync(3, ONE, 2, {}), via("b", heartbeat(3, TWO, 2)), describe(5)),
)  # fmt: skip
_STATIC = (
    *(
        case(f"group-static-restart-v{v}", join(v, instance="i"),
             sync(3, ONE, assignments={ONE: b"all"}, instance="i"), join(v, instance="i"),
             sync(3, TWO, instance="i"), heartbeat(3, TWO, instance="i"), describe(5),
             heartbeat(3, ONE, instance="i"))
        for v in (5, 7, 9)
    ),
    case("group-static-fenced", *STATIC, join(5, "other", instance="i"),
         sync(3, "other", instance="i"), heartbeat(3, "other", instance="i"),
         commit(7, Of(), who="other", generation=1, instance="i"),
         leave(3, "other", instances=["i"]), describe(5), topics=["t"]),
    case("group-static-unknown", *STATIC, join(5, ONE, instance="j"), sync(3, ONE, instance="j"),
         heartbeat(3, ONE, instance="j"), commit(7, Of(), who=ONE, generation=1, instance="j"),
         leave(3, "", instances=["j"]), join(5, "nobody", instance="k"), topics=["t"]),
    case("group-static-by-its-instance", *STATIC, leave(3, "", instances=["i"]), describe(5),
         leave(4, "", instances=["i"])),
    case("group-static-other-metadata", *STATIC, join(5, instance="i", protocols=TWO_PROTOCOLS),
         describe(5)),
    case("group-static-while-completing", join(5, instance="i"), join(5, instance="i"),
         join(5, TWO, instance="i"), describe(5)),
    case("group-static-known-again", *STATIC, join(5, ONE, instance="i"), describe(5)),
    case("group-static-without-its-instance", *STATIC, heartbeat(3, ONE), sync(3, ONE),
         commit(7, Of(2), who=ONE, generation=1), join(5, ONE), leave(3, ONE), describe(5),
         topics=["t"]),
    case("group-static-names",
         *(join(5, group=name, instance=name) for name in ("", ".", "a b", "x" * 250))),
    case("group-static-replaces-who-waits", *STATIC, via("b", join(5)), parked("b", join(5, TWO)),
         via("c", join(5, instance="i")), describe(5)),
)  # fmt: skip
_LEAVING = (
    case("group-leave-many", *BOTH, leave(3, TWO, "nobody", ONE), describe(5), leave(3),
         leave(4, ONE)),
    *(
        case(f"group-leave-nothing-v{v}", leave(v, "x"), leave(v, "x", group="="))
        for v in range(6)
    ),
    case("group-leave-twice-in-one", *ALONE, leave(5, ONE, ONE), describe(5)),
)  # fmt: skip
_STRANGERS = (
    *(
        case(f"group-sync-nothing-v{v}", sync(v, "x"), sync(v, "x", group="="), sync(v, ""))
        for v in range(6)
    ),
    *(
        case(f"group-heartbeat-nothing-v{v}", heartbeat(v, "x"), heartbeat(v, "x", group="="),
             heartbeat(v, "", -1))
        for v in range(5)
    ),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_LIVES, *_JOINING, *_AGREEING, *_STATIC, *_LEAVING, *_STRANGERS)
