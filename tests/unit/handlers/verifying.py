"""A coordinator that says what a test wants, when it wants."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.handlers.services import Verified
from ottla.protocol.errors import ErrorCode
from tests.unit.handlers.one_broker import OneBroker

TopicPartition = tuple[str, int]
Asked = tuple[str, int, int, list[TopicPartition]]


class Verifier:
    """Stands in for every coordinator; `code` for all partitions, unless `holds`."""

    def __init__(self, broker: OneBroker, code: ErrorCode = ErrorCode.NONE) -> None:
        self.code = code
        self.holds = False
        self.asked: list[Asked] = []
        self._held: list[tuple[list[TopicPartition], Verified]] = []
        broker.services.verify_transaction = self.verify

    def verify(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[TopicPartition],
        to: Verified,
    ) -> None:
        self.asked.append((transactional_id, producer_id, producer_epoch, list(partitions)))
        if self.holds:
            self._held.append((list(partitions), to))
        else:
            to(dict.fromkeys(partitions, self.code))

    def answer(self, code: ErrorCode = ErrorCode.NONE) -> None:
        """The oldest question."""
        partitions, to = self._held.pop(0)
        to(dict.fromkeys(partitions, code))
