"""Transactions: their life in every version, and every refusal of it."""

from __future__ import annotations

from functools import partial

from tests.differential.case import Case, Topic
from tests.differential.case import case as plain_case
from tests.differential.cases.idempotence import SHOWN, describe_producers
from tests.differential.group_requests import (
    Of,
    commit,
    delete_groups,
    delete_offsets,
    describe,
    fetch_offsets,
    find,
    joined,
    member,
    sync,
)
from tests.differential.requests import (
    LATEST,
    At,
    When,
    fetch,
    init_producer_id,
    list_offsets,
    read_back,
)
from tests.differential.transaction_requests import (
    Adding,
    add,
    add_many,
    add_offsets,
    another,
    commit_offsets,
    describe_transactions,
    end,
    ended,
    init,
    list_transactions,
    mark,
    no_more_concurrent,
    once_listed,
    producer,
    send,
    stable,
    verify,
)

case = partial(plain_case, needs_coordinator=True, needs_transactions=True)
TRANSACTION = 1
NEWEST_INIT, NEWEST_ADD, NEWEST_ADD_OFFSETS, NEWEST_END, NEWEST_COMMIT = 5, 5, 4, 4, 4
T = Topic("t", 2)
T_1, MISSING, OFFSETS_LOG = ("t", 1), ("missing", 0), ("=__consumer_offsets", 0)
NEW = init(4)
ONE = member(1)
BEGUN = (NEW, add(3), send())
COMMITTED, ABORTED = (*BEGUN, end(3), ended()), (*BEGUN, end(3, commits=False), ended())
ALONE = (*joined(), sync(3, ONE, assignments={ONE: b"all"}))
READ_COMMITTED = fetch(12, At(), isolation_level=1)
SHOWN_OFFSETS = list_offsets(6, When(LATEST), isolation_level=1)

_FINDING = (
    plain_case("coordinator-before-its-transactions", find(1, "x", key_type=TRANSACTION)),
    *(
        case(f"coordinator-find-transaction-v{v}", find(v, "x", key_type=TRANSACTION),
             find(v, "=", key_type=TRANSACTION), find(v, "a b", key_type=TRANSACTION))
        for v in range(1, 7)
    ),
    case("coordinator-find-transactions", find(4, "x", "y", "x", key_type=TRANSACTION)),
)  # fmt: skip
_LIVES = (
    *(
        case(f"transaction-life-v{v}", init(v), add(v), send(0, 2), describe_transactions(),
             list_transactions(min(v, 1)), READ_COMMITTED, SHOWN_OFFSETS, SHOWN, end(min(v, 4)),
             ended(), READ_COMMITTED, SHOWN_OFFSETS, SHOWN, no_more_concurrent(add(v)), send(2),
             end(min(v, 4), commits=False), ended(), READ_COMMITTED, read_back(), SHOWN,
             list_transactions(min(v, 1)), topics=["t"])
        for v in range(6)
    ),
    case("transaction-two-partitions", NEW, add(3, ("t", 0), T_1), send(), send(partition=1),
         describe_transactions(), end(3), ended(), describe_producers(("t", [0, 1])), topics=[T]),
    case("transaction-grows", NEW, add(3), add(3), add(3, ("t", 0), T_1), describe_transactions(),
         send(), add(3, T_1), send(partition=1), end(3), ended(), topics=[T]),
    case("transaction-without-records", NEW, add(3), end(3), ended(), SHOWN, read_back(),
         no_more_concurrent(add(3)), end(3, commits=False), ended(), read_back(), topics=["t"]),
    case("transaction-without-partitions", NEW, add_many(4, Adding(())), describe_transactions(),
         end(3), ended(), topics=["t"]),
    case("transactions-interleaved", NEW, add(3), send(0, 2), init(4, "y"),
         add(3, name="y"), send(0, name="y"), READ_COMMITTED, end(3, name="y"), ended("y"),
         READ_COMMITTED, SHOWN_OFFSETS, topics=["t"]),
)  # fmt: skip
_INITIALIZING = (
    *(
        case(f"transaction-init-v{v}", init(v), init(v), describe_transactions(),
             init(v, timeout_ms=5), describe_transactions(), init(v, timeout_ms=900_001),
             init(v, timeout_ms=0), init(v, timeout_ms=-1), init(v, "="))
        for v in range(NEWEST_INIT + 1)
    ),
    *(
        case(f"transaction-init-while-ongoing-v{v}", *BEGUN, init(v),
             no_more_concurrent(init(v)), describe_transactions(), SHOWN, READ_COMMITTED,
             add(3, epoch=0), end(3, epoch=0), send(1), no_more_concurrent(add(3, epoch=2)),
             send(0, epoch=2), end(3, epoch=2), ended(), READ_COMMITTED, topics=["t"])
        for v in (0, 1, 4, 5)
    ),
    *(
        case(f"transaction-init-resumed-v{v}", NEW, init(v, producer_id=producer, epoch=0),
             init(v, producer_id=producer, epoch=0), init(v, producer_id=producer, epoch=5),
             init(v, producer_id=another, epoch=1), init(v, producer_id=producer, epoch=1),
             init(v, producer_id=producer), init(v, epoch=1), describe_transactions())
        for v in (3, 4, 5)
    ),
    *(
        case(f"transaction-init-resumed-while-ongoing-v{v}", *BEGUN,
             init(v, producer_id=producer, epoch=5),
             no_more_concurrent(init(v, producer_id=producer, epoch=0)), describe_transactions(),
             topics=["t"])
        for v in (3, 5)
    ),
    case("transaction-init-resumed-unknown", init_producer_id(4),
         init(4, producer_id=producer, epoch=0), init(4, producer_id=7_000_000, epoch=3)),
    case("transaction-init-after-commit", *COMMITTED, NEW, describe_transactions(), SHOWN,
         send(0, epoch=1), add(3, epoch=1), send(0, epoch=1), end(3, epoch=1), ended(),
         READ_COMMITTED, topics=["t"]),
)  # fmt: skip
_ADDING = (
    *(
        case(f"transaction-add-refused-v{v}", add(v, name="nobody", producer_id=5),
             add(v, name="=", producer_id=5), NEW, add(v, producer_id=another), NEW,
             add(v, epoch=0), add(v, epoch=9), add(v, MISSING, ("t", 0), epoch=1),
             add(v, T_1, ("t", 7), MISSING, epoch=1), add(v, OFFSETS_LOG, ("t", 0), epoch=1),
             describe_transactions(), topics=[T])
        for v in range(NEWEST_ADD + 1)
    ),
    *(
        case(f"transaction-add-many-v{v}", NEW, init(4, "y"),
             add_many(v, Adding(name="y"), Adding(name="nobody"), Adding((MISSING, T_1))),
             add_many(v, Adding(verify_only=True), Adding((T_1,), "y")),
             describe_transactions("x", "y"), topics=[T])
        for v in (4, 5)
    ),
    *(
        case(f"transaction-verify-v{v}", NEW, verify(v), verify(v, name="nobody"),
             verify(v, name="="), add(3), verify(v), verify(v, ("t", 0), T_1),
             verify(v, MISSING, ("t", 0)), verify(v, epoch=1), verify(v, OFFSETS_LOG), end(3),
             ended(), verify(v), topics=[T])
        for v in (4, 5)
    ),
    *(
        case(f"transaction-add-offsets-refused-v{v}", add_offsets(v, name="nobody", producer_id=5),
             add_offsets(v, name="=", producer_id=5), NEW, add_offsets(v, producer_id=another),
             NEW, add_offsets(v, epoch=0), add_offsets(v, epoch=7), add_offsets(v, "=", epoch=1),
             describe_transactions())
        for v in range(NEWEST_ADD_OFFSETS + 1)
    ),
)  # fmt: skip
_ENDING = (
    *(
        case(f"transaction-end-refused-v{v}", end(v, name="nobody", producer_id=5),
             end(v, name="=", producer_id=5), NEW, end(v), end(v, commits=False),
             end(v, producer_id=another), NEW, end(v, epoch=0), end(v, epoch=9),
             add(3, epoch=1), end(v, epoch=0), end(v, epoch=2), end(v, epoch=1),
             ended(), topics=["t"])
        for v in range(NEWEST_END + 1)
    ),
    *(
        case(f"transaction-ended-again-v{v}", *COMMITTED, end(v), end(v, commits=False),
             no_more_concurrent(add(3)), end(v, commits=False), ended(), end(v),
             end(v, commits=False), describe_transactions(), topics=["t"])
        for v in range(NEWEST_END + 1)
    ),
)  # fmt: skip
_PRODUCING = (
    *(
        case(f"transaction-produce-unadded-v{v}", NEW, send(version=v), add(3), send(version=v),
             send(partition=1, version=v), end(3), ended(), send(1, version=v), topics=[T])
        for v in (3, 7, 8, 9, 10, 11)
    ),
    *(
        case(f"transaction-produce-refused-v{v}", *BEGUN, send(5, version=v),
             send(1, version=v, is_transactional=False), send(1, epoch=1, version=v),
             send(1, version=v, name="nobody"), NEW, no_more_concurrent(NEW),
             send(1, version=v), end(3, epoch=0), SHOWN, topics=["t"])
        for v in (3, 9, 11)
    ),
    case("transaction-produce-idempotent-then-transactional", NEW, send(is_transactional=False),
         add(3), send(1), end(3), ended(), send(2, is_transactional=False), SHOWN, read_back(),
         topics=["t"]),
)  # fmt: skip
_OFFSETS = (
    *(
        case(f"transaction-offsets-v{v}", NEW, add_offsets(v), commit_offsets(v, Of(5), Of(6, "u")),
             fetch_offsets(7, Of(), Of(topic="u")), fetch_offsets(7, Of(), require_stable=True),
             fetch_offsets(9, everything=True, require_stable=True), describe(5), end(v), ended(),
             stable(fetch_offsets(7, Of(), Of(topic="u"), require_stable=True)),
             fetch_offsets(9, everything=True), describe(5), topics=["t", "u"])
        for v in range(NEWEST_COMMIT + 1)
    ),
    case("transaction-offsets-aborted", commit(7, Of(1)), NEW, add_offsets(3),
         commit_offsets(3, Of(5), Of(6, partition=1)), fetch_offsets(7, Of(), Of(partition=1)),
         end(3, commits=False), ended(),
         stable(fetch_offsets(7, Of(), Of(partition=1), require_stable=True)), describe(5),
         topics=[T]),
    case("transaction-offsets-over-committed", NEW, add_offsets(3), commit_offsets(3, Of(5)),
         commit(7, Of(9)), fetch_offsets(7, Of()), end(3), ended(),
         stable(fetch_offsets(7, Of(), require_stable=True)), topics=["t"]),
    case("transaction-offsets-twice", NEW, add_offsets(3), commit_offsets(3, Of(5)),
         commit_offsets(3, Of(6)), end(3), ended(),
         stable(fetch_offsets(7, Of(), require_stable=True)), topics=["t"]),
    case("transaction-offsets-delete-group", NEW, add_offsets(3), commit_offsets(3, Of(5)),
         delete_groups(2, "g"), delete_offsets(Of()), describe(5), topics=["t"]),
    *(
        case(f"transaction-offsets-refused-v{v}", NEW, commit_offsets(v, Of(5)),
             commit_offsets(v, Of(5), name="nobody"), add_offsets(3),
             commit_offsets(v, Of(5), epoch=1), commit_offsets(v, Of(5), producer_id=another),
             commit_offsets(v, Of(5, "missing"), Of(6, partition=7), Of(7)),
             commit_offsets(v, Of(5, metadata="m" * 4097), Of(6, partition=1)),
             commit_offsets(v, Of(5), group="="), commit_offsets(v, Of(5), group="h"),
             commit_offsets(v), NEW, no_more_concurrent(NEW), commit_offsets(v, Of(5)),
             fetch_offsets(7, everything=True), topics=[T])
        for v in range(NEWEST_COMMIT + 1)
    ),
    *(
        case(f"transaction-offsets-by-nobody-v{v}", NEW, add_offsets(3),
             commit_offsets(v, Of(5), generation=3), commit_offsets(v, Of(5), who="x"),
             commit_offsets(v, Of(5), who="x", generation=0),
             commit_offsets(v, Of(5), instance="i"), describe(5), topics=["t"])
        for v in (3, 4)
    ),
    *(
        case(f"transaction-offsets-by-members-v{v}", *ALONE, NEW, add_offsets(3),
             commit_offsets(v, Of(5), who=ONE, generation=1),
             commit_offsets(v, Of(5), who=ONE, generation=2), commit_offsets(v, Of(5), who=ONE),
             commit_offsets(v, Of(5), who="x", generation=1), commit_offsets(v, Of(5)),
             commit_offsets(v, Of(5), who=ONE, generation=1, instance="i"),
             commit_offsets(2, Of(6)), end(3), ended(),
             stable(fetch_offsets(7, Of(), require_stable=True)), topics=["t"])
        for v in (3, 4)
    ),
)  # fmt: skip
_SHOWING = (
    case("transactions-described", describe_transactions("x", "=", "nobody"), NEW,
         describe_transactions("x", "x"), add(3), send(), describe_transactions(), topics=["t"]),
    case("transactions-described-after-abort", *ABORTED, describe_transactions(), topics=["t"]),
    *(
        case(f"transactions-listed-v{v}", *COMMITTED, init(4, "y"), init(4, "z"),
             add(3, name="z"), list_transactions(v), list_transactions(v, states=["Ongoing"]),
             list_transactions(v, states=["Empty", "CompleteCommit"]),
             list_transactions(v, states=["ongoing", "x"]),
             list_transactions(v, states=["Dead", "Empty"]),
             list_transactions(v, producer_ids=[producer]),
             list_transactions(v, producer_ids=[producer], states=["Empty"]),
             list_transactions(v, producer_ids=[another]), topics=["t"])
        for v in (0, 1)
    ),
    case("transactions-listed-by-age", *BEGUN, init(4, "y"),
         once_listed(list_transactions(1, duration_ms=0), "-by-age-x"),
         *(list_transactions(1, duration_ms=ms) for ms in (-5, 3_600_000)), topics=["t"]),
)  # fmt: skip
_MARKERS = (
    *(
        case(f"markers-v{v}", *BEGUN, mark(v), SHOWN, READ_COMMITTED, mark(v), read_back(),
             mark(v, MISSING, T_1, ("t", 0)), mark(v, ("t", 9)), topics=[T])
        for v in (0, 1)
    ),
    case("markers-fenced", *BEGUN, mark(1, epoch=-1), mark(1, coordinator_epoch=-1),
         mark(1, coordinator_epoch=4), mark(1, coordinator_epoch=3), SHOWN, mark(1, epoch=5),
         mark(1, epoch=4, coordinator_epoch=9), send(1), SHOWN, read_back(), topics=["t"]),
    case("markers-of-a-stranger", NEW, mark(1, commits=True), mark(1, producer_id=another), SHOWN,
         read_back(), READ_COMMITTED, topics=["t"]),
    case("markers-before-the-end", *BEGUN, mark(1), send(1), end(3), ended(), READ_COMMITTED,
         topics=["t"]),
)  # fmt: skip

CASES: tuple[Case, ...] = (
    *_FINDING, *_LIVES, *_INITIALIZING, *_ADDING, *_ENDING, *_PRODUCING, *_OFFSETS, *_SHOWING,
    *_MARKERS,
)  # fmt: skip
