"""What a coordinator needs of its partition of an internal topic; the broker hands it over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ottla.coordinators.effects import Record, RecordRows
from ottla.protocol.errors import ErrorCode

Producer = tuple[int, int]  # its id and its epoch


class CoordinatorLog(Protocol):
    """One partition that this broker leads. All callbacks come from the loop, none from within the
    call that names them, each exactly once, and those of appends in the order of the appends.
    """

    @property
    def max_batch_bytes(self) -> int:
        """The topic's max.message.bytes: a batch for many is kept below it."""
        ...

    def append(
        self,
        records: Sequence[Record | RecordRows],
        on_stored: Callable[[ErrorCode], None],
        *,
        timeout_ms: int,
        producer: Producer | None = None,
    ) -> None:
        """One batch. NONE once it is committed (acks -1), else the log's own error.

        With a producer it belongs to that one's transaction.
        """
        ...

    def read(
        self, from_offset: int, *, max_bytes: int, on_read: Callable[[bytes | ErrorCode], None]
    ) -> None:
        """Batches from the log's start or `from_offset` on, whichever is later, to the log's end.

        Not only to the high watermark: what is beyond it was perhaps acknowledged by the leader
        before. About `max_bytes` but at least one whole batch; the last may be cut off, and the
        first may begin before `from_offset`. Empty: there is no more. An error: the log cannot be
        read here any more.
        """
        ...
