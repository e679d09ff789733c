"""Fetch without sessions: every version and format, limits, positions, epochs, waiting."""

from __future__ import annotations

from ottla.protocol.records.compression import Codec
from tests.differential.case import Case, Topic, case
from tests.differential.cases.produce import written
from tests.differential.requests import At, To, batch, fetch, message_set, produce

NEWEST = 17
PUT = produce(7, To(batch(b"a", b"b", b"c")))
THREE = (PUT, produce(7, To(batch(b"d"))), produce(7, To(batch(b"e" * 500))))
_VERSIONS = range(NEWEST + 1)

_READ = (
    *(
        case(f"fetch-v{v}", produce(7, To(written(7))), *THREE[1:], fetch(v, At()), fetch(v, At(4)),
             fetch(v, At(2)), topics=["t"])
        for v in _VERSIONS
    ),
    *(
        case(f"fetch-{codec.name.lower()}-v{v}", produce(7, To(written(7, codec))),
             fetch(v, At()), fetch(v, At(2)), topics=["t"])
        for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)
        for v in (0, 2, 4, 10, 17)
    ),
    *(
        case(f"fetch-magic{magic}-v{v}",
             produce(2, To(message_set(b"a", b"b", magic=magic))), fetch(v, At()), fetch(v, At(1)),
             topics=["t"])
        for magic in (0, 1)
        for v in (0, 2, 4, 17)
    ),
    *(case(f"fetch-empty-v{v}", fetch(v, At()), topics=["t"]) for v in (0, 1, 4, 7, 11, 12, 17)),
)  # fmt: skip
_REFUSED = (
    *(
        case(f"fetch-out-of-range-v{v}", PUT, fetch(v, At(3)), fetch(v, At(4)), fetch(v, At(-1)),
             fetch(v, At(-2)), fetch(v, At(2**62)), topics=["t"])
        for v in (0, 4, 8, 11, 12, 17)
    ),
    *(
        case(f"fetch-unknown-v{v}", PUT, fetch(v, At(topic="missing")), fetch(v, At(partition=4)),
             fetch(v, At(partition=-1)), fetch(v, At(topic="missing"), At(0)), topics=["t"])
        for v in (0, 4, 9, 12, 13, 17)
    ),
    case("fetch-invalid-name", fetch(12, At(topic="=no name"), At(topic="="))),
    *(
        case(f"fetch-leader-epoch-v{v}", PUT, fetch(v, At(leader_epoch=0)),
             fetch(v, At(leader_epoch=1)), fetch(v, At(leader_epoch=99)),
             fetch(v, At(leader_epoch=-1)), fetch(v, At(leader_epoch=-7)), topics=["t"])
        for v in (8, 9, 11, 12, 16, 17)
    ),
    case("fetch-last-fetched-epoch", PUT, fetch(12, At(last_fetched_epoch=0)),
         fetch(12, At(2, last_fetched_epoch=0)), fetch(17, At(3, last_fetched_epoch=1)),
         fetch(17, At(3, last_fetched_epoch=0, leader_epoch=0)), topics=["t"]),
    case("fetch-same-partition-twice", PUT, fetch(4, At(), At(2)), fetch(12, At(), At(2)),
         topics=["t"]),
    case("fetch-nothing", fetch(0), fetch(4), fetch(12), fetch(17)),
    *(
        case(f"fetch-as-follower-v{v}", PUT, fetch(v, At(), replica_id=5),
             fetch(v, At(), replica_id=0), fetch(v, At(), replica_id=-2), topics=["t"])
        for v in (3, 11, 12)
    ),
    case("fetch-as-debugger", PUT, fetch(11, At(), replica_id=-3), topics=["t"]),
)  # fmt: skip
_LIMITS = (
    *(
        case(f"fetch-partition-limit-v{v}", *THREE,
             *(fetch(v, At(max_bytes=limit)) for limit in (0, 1, 50, 80, 100, 200, 400, -1)),
             topics=["t"])
        for v in (0, 2, 3, 12)
    ),
    *(
        case(f"fetch-whole-limit-v{v}", *THREE,
             *(fetch(v, At(), max_bytes=limit) for limit in (0, 1, 80, 100, 200, -1)),
             topics=["t"])
        for v in (3, 12)
    ),
    *(
        case(f"fetch-limit-of-several-v{v}", produce(7, To(batch(b"x" * 300))),
             produce(7, To(batch(b"y" * 300), partition=1)), produce(7, To(batch(b"z"), "u")),
             fetch(v, At(), At(partition=1), At(topic="u"), max_bytes=500),
             fetch(v, At(partition=1), At(topic="u"), At(), max_bytes=1),
             fetch(v, At(max_bytes=10), At(partition=1, max_bytes=10), At(topic="u")),
             topics=[Topic("t", 2), "u"])
        for v in (3, 7, 12)
    ),
    case("fetch-min-bytes-there", PUT, fetch(12, At(), min_bytes=1, max_wait_ms=10_000),
         fetch(12, At(), min_bytes=50, max_wait_ms=10_000), topics=["t"]),
    case("fetch-min-bytes-not-there", PUT, fetch(12, At(), min_bytes=1000, max_wait_ms=1),
         fetch(12, At(3), min_bytes=1, max_wait_ms=20), fetch(0, At(3), min_bytes=1, max_wait_ms=5),
         topics=["t"]),
    case("fetch-min-bytes-with-error", PUT,
         fetch(12, At(), At(99, partition=1), min_bytes=10_000, max_wait_ms=10_000),
         topics=[Topic("t", 2)]),
    case("fetch-negative-wait", PUT, fetch(12, At(3), min_bytes=1, max_wait_ms=-1),
         fetch(12, At(3), min_bytes=-1, max_wait_ms=1), topics=["t"]),
    case("fetch-committed-only", PUT, fetch(4, At(), isolation_level=1),
         fetch(12, At(), isolation_level=1), fetch(12, At(3), isolation_level=1), topics=["t"]),
    case("fetch-unknown-isolation", PUT, fetch(12, At(), isolation_level=2),
         fetch(4, At(), isolation_level=-1), topics=["t"]),
    case("fetch-several-topics", PUT, produce(7, To(batch(b"u"), "u")),
         fetch(12, At(), At(topic="u"), At(topic="missing"), At(1, partition=1)),
         fetch(17, At(topic="u"), At()), topics=[Topic("t", 2), "u"]),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_READ, *_REFUSED, *_LIMITS)
