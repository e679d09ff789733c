"""Fetch sessions (KIP-227): made, continued, changed, ended, and used wrongly."""

from __future__ import annotations

from ottla.protocol.apis.fetch import FetchResponse
from tests.differential.case import Case, Topic, World, case
from tests.differential.requests import At, To, batch, fetch, produce

PUT = produce(7, To(batch(b"a", b"b")))
PUT_1 = produce(7, To(batch(b"c"), partition=1))
ONE, OTHER = At(), At(partition=1)
NAMES_LAST, IDS_FIRST = 12, 13
VERSIONS = (7, NAMES_LAST, IDS_FIRST, 17)
TWO = [Topic("t", 2), Topic("u")]


def mine(world: World) -> int:
    """The session that the broker gave in this case, most lately."""
    ids = [each.session_id for each in world.answers if isinstance(each, FetchResponse)]
    return next((session_id for session_id in reversed(ids) if session_id), 0)


CASES: tuple[Case, ...] = (
    *(
        case(f"session-v{v}", PUT, fetch(v, ONE, OTHER, session_epoch=0),
             fetch(v, session_id=mine, session_epoch=1),
             fetch(v, At(2), session_id=mine, session_epoch=2), PUT_1,
             fetch(v, session_id=mine, session_epoch=3),
             fetch(v, At(1, partition=1), session_id=mine, session_epoch=4),
             fetch(v, session_id=mine, session_epoch=5), topics=TWO)
        for v in VERSIONS
    ),
    *(
        case(f"session-forget-v{v}", PUT, PUT_1, fetch(v, ONE, OTHER, session_epoch=0),
             fetch(v, forget=[("t", 0)], session_id=mine, session_epoch=1),
             fetch(v, forget=[("t", 0), ("missing", 0)], session_id=mine, session_epoch=2),
             fetch(v, At(0), session_id=mine, session_epoch=3),
             fetch(v, forget=[("t", 0), ("t", 1)], session_id=mine, session_epoch=4),
             fetch(v, session_id=mine, session_epoch=5), topics=TWO)
        for v in VERSIONS
    ),
    *(
        case(f"session-add-v{v}", PUT, fetch(v, ONE, session_epoch=0),
             fetch(v, OTHER, At(topic="u"), session_id=mine, session_epoch=1),
             produce(7, To(batch(b"u"), "u")), fetch(v, session_id=mine, session_epoch=2),
             topics=TWO)
        for v in (7, 17)
    ),
    *(
        case(f"session-wrong-epoch-v{v}", PUT, fetch(v, ONE, session_epoch=0),
             fetch(v, session_id=mine, session_epoch=2),
             fetch(v, session_id=mine, session_epoch=1),
             fetch(v, session_id=mine, session_epoch=1),
             fetch(v, session_id=mine, session_epoch=-2), topics=TWO)
        for v in (7, 17)
    ),
    *(
        case(f"session-unknown-v{v}", PUT, fetch(v, ONE, session_id=123, session_epoch=1),
             fetch(v, ONE, session_id=123, session_epoch=0),
             fetch(v, ONE, session_id=123, session_epoch=-1),
             fetch(v, ONE, session_id=-5, session_epoch=3),
             fetch(v, ONE, session_id=0, session_epoch=4), topics=TWO)
        for v in (7, 17)
    ),
    *(
        case(f"session-closed-v{v}", PUT, fetch(v, ONE, session_epoch=0),
             fetch(v, ONE, session_id=mine, session_epoch=-1),
             fetch(v, session_id=mine, session_epoch=1), topics=TWO)
        for v in (7, 17)
    ),
    *(
        case(f"session-replaced-v{v}", PUT, fetch(v, ONE, session_epoch=0),
             fetch(v, OTHER, session_id=mine, session_epoch=0),
             fetch(v, session_id=mine, session_epoch=1), topics=TWO)
        for v in (7, 17)
    ),
    *(
        case(f"session-with-errors-v{v}", PUT,
             fetch(v, ONE, At(99, partition=1), At(topic="missing"), session_epoch=0),
             fetch(v, session_id=mine, session_epoch=1), fetch(v, session_id=mine, session_epoch=2),
             fetch(v, At(0, partition=1), session_id=mine, session_epoch=3),
             fetch(v, session_id=mine, session_epoch=4), topics=TWO)
        for v in VERSIONS
    ),
    case("session-of-nothing", fetch(7, session_epoch=0), fetch(17, session_epoch=0)),
    case("session-with-full-answers", PUT, fetch(12, ONE, OTHER, session_epoch=0),
         fetch(12, At(2), session_id=mine, session_epoch=1), PUT,
         fetch(12, session_id=mine, session_epoch=2), fetch(12, session_id=mine, session_epoch=3),
         topics=TWO),
    case("session-names-then-ids", PUT, fetch(12, ONE, session_epoch=0),
         fetch(13, session_id=mine, session_epoch=1), fetch(12, session_id=mine, session_epoch=2),
         topics=TWO),
    case("session-ids-then-names", PUT, fetch(13, ONE, session_epoch=0),
         fetch(12, session_id=mine, session_epoch=1), topics=TWO),
    case("session-limits-stay-fair", PUT, PUT_1, fetch(12, ONE, OTHER, session_epoch=0,
         max_bytes=1),
         fetch(12, session_id=mine, session_epoch=1, max_bytes=1),
         fetch(12, session_id=mine, session_epoch=2, max_bytes=1), topics=TWO),
)  # fmt: skip
