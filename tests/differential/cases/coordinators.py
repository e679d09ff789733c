"""Who coordinates, and what administrators ask of groups and of their offsets."""

from __future__ import annotations

from functools import partial

from tests.differential.case import Case, Topic
from tests.differential.case import case as plain_case
from tests.differential.group_requests import (
    Of,
    commit,
    delete_groups,
    delete_offsets,
    describe,
    fetch_offsets,
    find,
    join,
    joined,
    leave,
    list_groups,
    member,
    sync,
)
from tests.differential.requests import T0, To, batch, never_answered, produce

case = partial(plain_case, needs_coordinator=True)
SHARE = 2
ONE = member(1)
T = Topic("t", 2)
ALONE = (*joined(), sync(3, ONE, assignments={ONE: b"all"}))
LONG = "m" * 4096

_FINDING = (
    plain_case("coordinator-before-its-topic", find(0, "g")),
    *(case(f"coordinator-find-v{v}", find(v, "g"), find(v, "="), find(v, "a b")) for v in range(7)),
    case("coordinator-find-many", find(4, "g", "h", "g"), find(6), find(5, "=", "=x")),
    *(
        case(f"coordinator-find-type-v{v}", find(v, "g", key_type=SHARE), find(v, "g", key_type=3),
             find(v, "g", key_type=-1))
        for v in (1, 3, 4, 5, 6)
    ),
    case("coordinator-find-share", find(6, "=g:AAAAAAAAAAAAAAAAAAAAAA:0", key_type=SHARE),
         find(6, "=g:x:0", key_type=SHARE)),
    case("produce-to-committed-offsets",
         *(produce(v, To(batch(b"x"), "=__consumer_offsets")) for v in (3, 9, 11))),
)  # fmt: skip
_LISTING = (
    *(
        case(f"groups-list-v{v}", *ALONE, commit(7, Of(), group="h"), list_groups(v), topics=["t"])
        for v in range(6)
    ),
    case("groups-list-by-state", *ALONE, commit(7, Of(), group="h"),
         *(list_groups(4, states=states)
           for states in (["Stable"], ["Empty"], ["stable"], ["Empty", "Stable"], ["Dead"], ["x"])),
         topics=["t"]),
    case("groups-list-by-type", *ALONE, commit(7, Of(), group="h"),
         *(list_groups(5, types=types)
           for types in (["classic"], ["consumer"], ["Classic"], ["x"], ["classic", "share"])),
         list_groups(5, states=["Empty"], types=["classic"]), topics=["t"]),
    *(
        case(f"groups-describe-v{v}", *joined(protocol_type="connect", protocols=(("a", b"1"),)),
             describe(v, "g", "nobody", "="), commit(7, Of(), group="h"), describe(v, "h", "h"),
             topics=["t"])
        for v in range(6)
    ),
    *(
        case(f"groups-describe-operations-v{v}",
             describe(v, "nobody", authorized_operations=True), commit(7, Of()),
             describe(v, "g", authorized_operations=True), topics=["t"])
        for v in (3, 5)
    ),
)  # fmt: skip
_DELETING = (
    *(
        case(f"groups-delete-v{v}", *ALONE, commit(7, Of(4), group="h"), describe(0, "h"),
             delete_groups(v, "g", "h", "nobody", "="), describe(0, "g", "h"),
             fetch_offsets(5, Of(), groups=["h"]), leave(0, ONE), delete_groups(v, "g", "g"),
             list_groups(4), delete_groups(v), topics=["t"])
        for v in range(3)
    ),
    case("offsets-delete", commit(7, Of(1), Of(2, partition=1)), delete_offsets(Of()),
         fetch_offsets(7, everything=True), delete_offsets(Of(), Of(partition=1)),
         delete_offsets(Of(topic="missing"), Of(partition=9)), delete_offsets(),
         fetch_offsets(7, Of(), Of(partition=1)), describe(5), topics=[T]),
    case("offsets-delete-no-group", delete_offsets(Of()), delete_offsets(Of(), group="="),
         topics=[T]),
    case("offsets-delete-subscribed", *ALONE, commit(7, Of(1), who=ONE, generation=1),
         delete_offsets(Of(), Of(partition=1)), fetch_offsets(7, Of()), topics=[T]),
    case("offsets-delete-of-connect", *joined(protocol_type="connect"), commit(7, Of(), group="h"),
         delete_offsets(Of()), topics=[T]),
)  # fmt: skip
_COMMITTING = (
    *(
        case(f"offsets-commit-v{v}", commit(v, Of(5, metadata="note", leader_epoch=v // 6 - 1),
             Of(6, partition=1, metadata=None)), fetch_offsets(max(v, 1), Of(), Of(partition=1)),
             commit(v, Of(topic="missing"), Of(partition=2), Of(-1), Of(9, partition=-1)),
             fetch_offsets(max(v, 1), Of(), Of(partition=2)), commit(v), describe(5), topics=[T])
        for v in range(10)
    ),
    *(
        case(f"offsets-commit-metadata-v{v}", commit(v, Of(1, metadata=LONG)),
             commit(v, Of(2, metadata=LONG + "m"), Of(3, partition=1)),
             commit(v, Of(4, metadata="ü" * 4096)), fetch_offsets(v, Of(), Of(partition=1)),
             topics=[T])
        for v in (0, 1, 5, 8)
    ),
    *(
        case(f"offsets-commit-retention-v{v}", commit(v, Of(1), retention_ms=60_000),
             commit(v, Of(2, partition=1), retention_ms=0), fetch_offsets(5, everything=True),
             topics=[T])
        for v in (2, 4)
    ),
    case("offsets-commit-v1-timestamp", commit(1, Of(3)), fetch_offsets(1, Of()),
         commit(1, Of(4), timestamp=T0), fetch_offsets(1, Of()), topics=[T]),
    *(
        case(f"offsets-commit-generation-v{v}", commit(v, Of(), generation=0),
             commit(v, Of(), generation=5, who="x"), commit(v, Of(), who="x"), describe(0),
             commit(v, Of(3), generation=-2), fetch_offsets(v, Of()), topics=[T])
        for v in (1, 5, 9)
    ),
    *(
        case(f"offsets-commit-empty-group-v{v}", commit(v, Of(8), group="="),
             fetch_offsets(v, Of(), groups=["="]), topics=[T])
        for v in (0, 1, 5, 9)
    ),
    case("offsets-commit-while-members", *ALONE, commit(7, Of(1)), commit(7, Of(1), who=ONE),
         commit(7, Of(1), generation=1), fetch_offsets(7, Of()), topics=[T]),
    case("offsets-commit-twice-in-one", commit(7, Of(1), Of(2)), fetch_offsets(7, Of()),
         topics=[T]),
    case("offsets-commit-numbers", commit(7, Of(2**63 - 1), Of(-(2**63), partition=1)),
         fetch_offsets(7, everything=True), topics=[T]),
    case("offsets-commit-instance-only", commit(7, Of(1), instance="i"),
         commit(7, Of(1), instance="i", generation=1), describe(0), topics=[T]),
)  # fmt: skip
_FETCHING = (
    *(
        case(f"offsets-fetch-v{v}", fetch_offsets(v, Of()), commit(7, Of(3, leader_epoch=0)),
             fetch_offsets(v, Of(), Of(partition=1), Of(partition=9), Of(topic="missing")),
             fetch_offsets(v), topics=[T])
        for v in range(10)
    ),
    *(
        case(f"offsets-fetch-everything-v{v}", fetch_offsets(v, everything=True),
             commit(7, Of(3), Of(4, partition=1), Of(5, topic="u")),
             fetch_offsets(v, everything=True), topics=[T, "u"])
        for v in range(2, 10)
    ),
    *(
        case(f"offsets-fetch-groups-v{v}", commit(7, Of(1)), commit(7, Of(2), group="h"),
             fetch_offsets(v, Of(), groups=["g", "h", "nobody", "="]),
             fetch_offsets(v, everything=True, groups=["g", "h", "nobody"]),
             never_answered(fetch_offsets(v, Of(), groups=[])),
             fetch_offsets(v, Of(), groups=["g", "g"]),
             topics=[T])
        for v in (8, 9)
    ),
    *(
        case(f"offsets-fetch-stable-v{v}", commit(7, Of(1)),
             fetch_offsets(v, Of(), Of(partition=1), require_stable=True), topics=[T])
        for v in (7, 8, 9)
    ),
    case("offsets-fetch-twice-in-one", commit(7, Of(1)), fetch_offsets(5, Of(), Of()),
         fetch_offsets(8, Of(), Of()), topics=[T]),
    case("offsets-fetch-of-a-member", *ALONE, commit(7, Of(4, metadata="x"), who=ONE, generation=1),
         fetch_offsets(9, Of()), join(5, ONE), fetch_offsets(7, Of()), topics=[T]),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_FINDING, *_LISTING, *_DELETING, *_COMMITTING, *_FETCHING)
