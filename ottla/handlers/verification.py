"""Is the transaction open that a batch would begin in a partition? Its coordinator says (KIP-890).

Asked once in each transaction and partition. Without it a late batch would open a transaction that
nobody ever ends, and no reader of committed records would get past it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ottla.config.transaction_options import TRANSACTION_PARTITION_VERIFICATION_ENABLE
from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.log import Producer
from ottla.handlers.services import Services
from ottla.protocol.errors import ErrorCode
from ottla.replication.partition import Partition
from ottla.replication.verification import Verification

NO_SEQUENCE = -1

Refusals = Mapping[TopicPartition, ErrorCode]


class FirstBatch(NamedTuple):
    """What would begin a transaction in the partition, if it has none of its producer."""

    partition: Partition
    sequence: int = NO_SEQUENCE

    @property
    def place(self) -> TopicPartition:
        return self.partition.topic, self.partition.index


class Question(NamedTuple):
    """`knows_abortable`: its version may be told TRANSACTION_ABORTABLE."""

    transactional_id: str
    producer: Producer
    batches: Sequence[FirstBatch]
    knows_abortable: bool


def verify(
    services: Services, question: Question, later: Callable[[Refusals], None]
) -> Refusals | None:
    """Which batches may not be appended now. None: it is not known yet, and `later` will hear."""
    if not services.overrides.broker[TRANSACTION_PARTITION_VERIFICATION_ENABLE]:
        return {}
    producer_id, epoch = question.producer
    batches = [
        each
        for each in question.batches
        if not each.partition.is_in_transaction(producer_id, epoch=epoch)
    ]
    if not batches:
        return {}
    question = question._replace(batches=batches)
    answers: list[Refusals] = []
    guards: list[Verification] = []

    def told(codes: Refusals) -> None:
        if guards:
            later(_judge(question, codes, guards))
        else:
            answers.append(codes)

    places = [each.place for each in batches]
    services.verify_transaction(question.transactional_id, producer_id, epoch, places, told)
    if answers:
        return _judge(question, answers[0], None)
    guards += [_begin(each, question.producer) for each in batches]
    return None


def _begin(batch: FirstBatch, producer: Producer) -> Verification:
    producer_id, epoch = producer
    verifications = batch.partition.verifications
    return verifications.begin(producer_id, epoch=epoch, sequence=batch.sequence)


def _judge(
    question: Question, codes: Refusals, guards: Sequence[Verification] | None
) -> dict[TopicPartition, ErrorCode]:
    """An answer that comes later has guards: what they saw may be over by then."""
    refused: dict[TopicPartition, ErrorCode] = {}
    for number, batch in enumerate(question.batches):
        code = _in_words(codes.get(batch.place, ErrorCode.NONE), question.knows_abortable)
        if code:
            _begin(batch, question.producer)  # those behind it must not overtake it
        else:
            code = _overtaken(batch, question.producer, guards[number] if guards else None)
        if code:
            refused[batch.place] = code
    return refused


def _in_words(code: ErrorCode, knows_abortable: bool) -> ErrorCode:
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH  # what producers expect of a partition
    if code is ErrorCode.TRANSACTION_ABORTABLE and not knows_abortable:
        return ErrorCode.INVALID_TXN_STATE
    return code


def _overtaken(batch: FirstBatch, producer: Producer, guard: Verification | None) -> ErrorCode:
    """By a marker, or as the one that came before it and will come again."""
    producer_id, epoch = producer
    partition, sequence = batch
    if guard is not None and partition.is_in_transaction(producer_id, epoch=epoch):
        return ErrorCode.NONE
    if guard is not None and partition.verifications.get(producer_id) is not guard:
        return ErrorCode.INVALID_TXN_STATE
    if not partition.verifications.takes(producer_id, epoch=epoch, sequence=sequence):
        return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    return ErrorCode.NONE
