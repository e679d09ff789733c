"""Partitions that this broker does not lead, and those of which too few replicas keep up.

One broker gets there as a controller would bring it there: the cases send its requests.
"""

from __future__ import annotations

from dataclasses import replace

from ottla.protocol.apis.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from ottla.protocol.apis.metadata import MetadataResponse
from ottla.protocol.apis.produce import ProduceResponse
from ottla.protocol.apis.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from ottla.protocol.schema import Message
from tests.differential.case import Case, Step, case, step
from tests.differential.cases.configs import SET, TOPIC, change
from tests.differential.cases.offsets import delete_records, epoch_end
from tests.differential.cases.topics import create, new
from tests.differential.requests import (
    LATEST,
    At,
    To,
    When,
    batch,
    fetch,
    list_offsets,
    metadata,
    produce,
    read_back,
)

# The first controller's, of the first broker: a later one would shut the real controller out.
EPOCH = 1
ABSENT = 5  # a broker that nobody has started
ONE = batch(b"one")


def stop() -> Step:
    """Its replica is deleted here, and nobody else hears: to clients this broker still leads it."""
    return step(
        StopReplicaRequest,
        3,
        lambda world: StopReplicaRequest(
            controller_id=0,
            controller_epoch=EPOCH,
            topic_states=[
                StopReplicaTopicState(
                    topic_name=world.name("t"),
                    partition_states=[
                        StopReplicaPartitionState(partition_index=0, delete_partition=True)
                    ],
                )
            ],
        ),
    )


def lead(epoch: int, *isr: int) -> Step:
    """This broker leads in this epoch, and these are in sync."""
    return step(
        LeaderAndIsrRequest,
        4,
        lambda world: LeaderAndIsrRequest(
            controller_id=0,
            controller_epoch=EPOCH,
            topic_states=[
                LeaderAndIsrTopicState(
                    topic_name=world.name("t"),
                    partition_states=[
                        LeaderAndIsrPartitionState(
                            partition_index=0,
                            controller_epoch=EPOCH,
                            leader=0,
                            leader_epoch=epoch,
                            isr=list(isr),
                            partition_epoch=epoch,
                            replicas=[0, ABSENT],
                        )
                    ],
                )
            ],
            live_leaders=[],
        ),
    )


def _is_led(answer: Message) -> bool:
    assert isinstance(answer, MetadataResponse)
    return [each.leader_id for each in answer.topics[0].partitions] == [0]


def _is_written(answer: Message) -> bool:
    assert isinstance(answer, ProduceResponse)
    return not answer.responses[0].partition_responses[0].error_code


def of_two(min_insync: int) -> tuple[Step, Step]:
    """A topic with one of its two replicas on a broker that is not there; led by this one."""
    configs = {"min.insync.replicas": str(min_insync)}
    topic = new("t", -1, -1, assignments={0: [0, ABSENT]}, configs=configs)
    return create(7, topic), replace(metadata(12, "t"), until=_is_led)


def parked(asked: Step) -> Step:
    return replace(asked, link="producer", is_parked=True)


_NOT_LEADER = (
    *(
        case(f"produce-not-leader-v{v}", stop(), produce(v, To(ONE)), produce(v, To(ONE), acks=1),
             topics=["t"])
        for v in (3, 5, 7, 8, 9, 10, 11)
    ),
    case("produce-not-leader-acks-0", stop(), produce(7, To(ONE), acks=0), metadata(1),
         topics=["t"]),
    case("produce-not-leader-bad", stop(), produce(11, To(ONE + ONE)), produce(11, To(ONE), acks=2),
         produce(11, To(ONE), To(ONE, partition=9)), topics=["t"]),
    *(
        case(f"fetch-not-leader-v{v}", stop(), fetch(v, At()), topics=["t"])
        for v in (4, 11, 12, 13, 16, 17)
    ),
    *(
        case(f"fetch-fenced-epoch-v{v}", *of_two(1), lead(1, 0),
             *(fetch(v, At(leader_epoch=epoch)) for epoch in range(3)))
        for v in (11, 15, 16, 17)
    ),
    case("offsets-not-leader", stop(), list_offsets(9, When(LATEST)), epoch_end(4, ("t", 0, -1, 0)),
         delete_records(2, ("t", 0, 0)), topics=["t"]),
    case("produce-leader-lost-while-waiting", *of_two(1), lead(1, 0, ABSENT),
         parked(produce(11, To(ONE))), stop()),
)  # fmt: skip
_TOO_FEW = (
    case("produce-too-few-in-sync", *of_two(2), produce(11, To(ONE)), produce(7, To(ONE)),
         produce(11, To(ONE), acks=1), read_back(), list_offsets(9, When(LATEST)),
         change(1, (TOPIC, "t", [("min.insync.replicas", SET, "1")])),
         replace(produce(11, To(ONE)), until=_is_written), read_back()),
    case("produce-enough-in-sync", *of_two(1), produce(11, To(ONE)), read_back()),
    # Nothing more is committed then, and nobody hears NOT_ENOUGH_REPLICAS_AFTER_APPEND: for that
    # the option must change between the commit and the look at it.
    case("produce-in-sync-lost-while-waiting", *of_two(2), lead(1, 0, ABSENT),
         parked(produce(11, To(ONE), timeout_ms=1_000)), lead(2, 0), read_back()),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_NOT_LEADER, *_TOO_FEW)
