"""The transactional batches of a produce request: which of them may not be appended, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct

from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.log import Producer
from ottla.handlers.call import Call
from ottla.handlers.verification import FirstBatch, Question, Refusals, verify
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import BATCH_OVERHEAD, TRANSACTIONAL_BIT
from ottla.protocol.records.layout import MAGIC_AT

ATTRIBUTES_AT = 22  # the low byte
PRODUCER_AT = 43
_PRODUCER_AND_SEQUENCE = Struct(">qhi")
_KNOWS_ABORTABLE_FROM = 11

Named = Mapping[TopicPartition, memoryview | None]  # null records are None
Verdict = Mapping[TopicPartition, KafkaError]

_E = ErrorCode
# Old producers would not try again after hearing these, but after this one they do.
_PASSING = (
    _E.CONCURRENT_TRANSACTIONS, _E.NETWORK_EXCEPTION, _E.COORDINATOR_LOAD_IN_PROGRESS,
    _E.COORDINATOR_NOT_AVAILABLE, _E.NOT_COORDINATOR,
)  # fmt: skip


def verify_batches(
    call: Call, transactional_id: str, named: Named, later: Callable[[Verdict], None]
) -> Verdict | None:
    """Which may not be appended. None: it is not known yet, and `later` will hear.

    Raises what the whole request is refused with.
    """
    batches: dict[Producer, list[FirstBatch]] = {}
    for place, records in named.items():
        if records is not None and _is_transactional(records):
            producer_id, epoch, sequence = _PRODUCER_AND_SEQUENCE.unpack_from(records, PRODUCER_AT)
            partition = call.services.replicas.partitions.get(place)
            found = batches.setdefault((producer_id, epoch), [])
            if partition is not None and partition.is_leader:
                found.append(FirstBatch(partition, sequence))
    if len(batches) > 1:
        detail = f"the transactional batches of {len(batches)} producers in one request"
        raise KafkaError(_E.INVALID_PRODUCER_ID_MAPPING, detail)
    for producer, found in batches.items():
        question = Question(
            transactional_id, producer, found, knows_abortable=call.version >= _KNOWS_ABORTABLE_FROM
        )
        refusals = verify(call.services, question, lambda codes: later(_verdict(codes)))
        return None if refusals is None else _verdict(refusals)
    return {}


def producer_of(batch: memoryview) -> int:
    return int.from_bytes(batch[PRODUCER_AT : PRODUCER_AT + 8], "big")


def _is_transactional(records: memoryview) -> bool:
    """And has a producer; what is no whole batch is refused elsewhere."""
    return bool(
        len(records) >= BATCH_OVERHEAD
        and records[MAGIC_AT] == 2
        and records[ATTRIBUTES_AT] & TRANSACTIONAL_BIT
        and records[PRODUCER_AT] < 0x80
    )


def _verdict(refusals: Refusals) -> Verdict:
    return {place: _in_words(code) for place, code in refusals.items()}


def _in_words(code: ErrorCode) -> KafkaError:
    if code in _PASSING:
        return KafkaError(_E.NOT_ENOUGH_REPLICAS, f"the transaction is not verified: {code.name}")
    return KafkaError(code, "the partition is not known to be in the producer's transaction")
