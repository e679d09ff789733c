"""InitProducerId, batches with sequences, DescribeProducers."""

from __future__ import annotations

from collections.abc import Callable

from ottla.protocol.apis.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.protocol.apis.init_producer_id import InitProducerIdResponse
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from tests.differential.case import Case, Step, Topic, World, case, step
from tests.differential.requests import T0, To, init_producer_id, produce, read_back


def my_id(world: World) -> int:
    return world.last(InitProducerIdResponse).producer_id


def numbered(
    sequence: int, count: int = 1, *, epoch: int = 0, is_transactional: bool = False
) -> Callable[[World], bytes | None]:
    """A batch of this producer's, from that sequence on."""
    return lambda world: build_batch(
        [Record(i, T0, b"k", b"s%d" % (sequence + i)) for i in range(count)],
        producer_id=my_id(world),
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )


def send(
    sequence: int, count: int = 1, *, epoch: int = 0, version: int = 11, partition: int = 0
) -> Step:
    return produce(version, To(numbered(sequence, count, epoch=epoch), partition=partition))


def describe_producers(*topics: tuple[str, list[int]]) -> Step:
    return step(
        DescribeProducersRequest,
        0,
        lambda world: DescribeProducersRequest(
            topics=[
                TopicRequest(name=world.name(name), partition_indexes=partitions)
                for name, partitions in topics
            ]
        ),
    )


NEW = init_producer_id(4)
SHOWN = describe_producers(("t", [0]))
LAST_SEQUENCE = 2**31 - 1

_INIT = (
    *(case(f"init-producer-id-v{v}", init_producer_id(v)) for v in range(6)),
    case("init-producer-id-again", NEW, NEW, init_producer_id(0)),
    *(
        case(f"init-producer-id-resumed-v{v}", NEW,
             init_producer_id(v, producer_id=my_id, producer_epoch=0))
        for v in (3, 4, 5)
    ),
    case("init-producer-id-half-resumed", init_producer_id(4, producer_id=5),
         init_producer_id(4, producer_epoch=5), init_producer_id(3, producer_id=-5)),
    case("init-producer-id-empty-transactional-id", init_producer_id(4, transactional_id=""),
         init_producer_id(0, transactional_id="")),
    case("init-producer-id-bad-timeout",
         init_producer_id(4, transactional_id="x", timeout_ms=100_000_000),
         init_producer_id(4, transactional_id="x", timeout_ms=0),
         init_producer_id(1, transactional_id="x", timeout_ms=-1)),
    case("init-producer-id-timeout-does-not-matter", init_producer_id(4, timeout_ms=-1)),
)  # fmt: skip
_SEQUENCES = (
    *(
        case(f"idempotent-v{v}", NEW, send(0, 3, version=v), send(3, 2, version=v),
             send(3, 2, version=v), read_back(), SHOWN, topics=["t"])
        for v in (3, 4, 5, 7, 8, 11)
    ),
    case("idempotent-duplicates-of-last-five", NEW, *(send(i) for i in range(7)), send(2), send(6),
         send(1), send(0), read_back(), SHOWN, topics=["t"]),
    case("idempotent-overlap", NEW, send(0, 3), send(0, 2), send(1, 3), send(0, 4), read_back(),
         topics=["t"]),
    case("idempotent-gap", NEW, send(0), send(2), send(1), read_back(), topics=["t"]),
    case("idempotent-gap-v3", NEW, send(0), send(2, version=3), topics=["t"]),
    case("idempotent-begins-late", NEW, send(5), send(6), SHOWN, read_back(), topics=["t"]),
    case("idempotent-negative-sequence", NEW, send(-1), send(-2), read_back(), topics=["t"]),
    case("idempotent-new-epoch", NEW, send(0, 2), send(0, epoch=1), send(2, epoch=0),
         send(1, epoch=1), SHOWN, read_back(), topics=["t"]),
    case("idempotent-new-epoch-not-from-zero", NEW, send(0, 2), send(2, epoch=1), read_back(),
         topics=["t"]),
    case("idempotent-old-epoch-v3", NEW, send(0, epoch=3), send(1, epoch=2, version=3),
         send(1, epoch=2, version=9), topics=["t"]),
    case("idempotent-negative-epoch", NEW, send(0, epoch=-1), read_back(), topics=["t"]),
    case("idempotent-wraps", NEW, send(LAST_SEQUENCE - 1, 2), send(0), send(1), read_back(),
         SHOWN, topics=["t"]),
    case("idempotent-wraps-inside", NEW, send(LAST_SEQUENCE, 3), send(2), read_back(),
         topics=["t"]),
    case("idempotent-partitions-apart", NEW, send(0), send(0, partition=1), send(1, partition=1),
         send(2), describe_producers(("t", [0, 1])), topics=[Topic("t", 2)]),
    case("idempotent-two-producers", NEW, send(0), NEW, send(0), send(1), SHOWN, topics=["t"]),
    case("idempotent-and-plain", NEW, send(0),
         produce(11, To(build_batch([Record(0, T0, b"k", b"plain")]))), send(1), read_back(),
         SHOWN, topics=["t"]),
    case("idempotent-mixed-request", NEW,
         produce(11, To(numbered(0)), To(numbered(4), partition=1),
                 To(build_batch([Record(0, T0, b"k", b"plain")]), partition=2)),
         topics=[Topic("t", 3)]),
)  # fmt: skip
_TRANSACTIONS = (
    case("transactional-without-transaction", NEW,
         produce(11, To(numbered(0, is_transactional=True)), transactional_id="x"),
         produce(7, To(numbered(0, is_transactional=True)), transactional_id="x"),
         produce(7, To(numbered(0, is_transactional=True))),
         topics=["t"]),
)  # fmt: skip
_DESCRIBE = (
    case("describe-producers-none", SHOWN, topics=["t"]),
    case("describe-producers-unknown", describe_producers(("missing", [0]), ("t", [0, 5, -1])),
         topics=["t"]),
    case("describe-producers-invalid-name", describe_producers(("=no name", [0]))),
    case("describe-producers-nothing", describe_producers(), describe_producers(("t", [])),
         topics=["t"]),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_INIT, *_SEQUENCES, *_TRANSACTIONS, *_DESCRIBE)
