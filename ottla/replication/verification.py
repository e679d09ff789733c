"""Which producers' transactions the coordinator is being asked of, or did not vouch for (KIP-890).

The first batch of a transaction is taken only if the coordinator knows the partition to be in it.
Its word may be old when it comes: a marker voids it.
"""

from __future__ import annotations

_MOST = 1_000  # producers of one partition; of those that were refused most never come back


class Verification:
    """Of one producer; only whoever holds the one that counts may append."""

    __slots__ = ("epoch", "lowest_sequence")

    def __init__(self, epoch: int, sequence: int) -> None:
        self.epoch = epoch
        self.lowest_sequence = sequence


class Verifications:
    """Of one partition; most have none."""

    __slots__ = ("_by_producer",)

    def __init__(self) -> None:
        self._by_producer: dict[int, Verification] = {}

    def begin(self, producer_id: int, *, epoch: int, sequence: int) -> Verification:
        """The one that is under way, or a new one."""
        found = self._by_producer.get(producer_id)
        if found is None:
            if len(self._by_producer) >= _MOST:
                del self._by_producer[next(iter(self._by_producer))]
            found = self._by_producer[producer_id] = Verification(epoch, sequence)
        elif epoch > found.epoch:
            found.epoch, found.lowest_sequence = epoch, sequence
        elif epoch == found.epoch:
            found.lowest_sequence = min(found.lowest_sequence, sequence)
        return found

    def get(self, producer_id: int) -> Verification | None:
        return self._by_producer.get(producer_id)

    def takes(self, producer_id: int, *, epoch: int, sequence: int) -> bool:
        """Not a batch whose predecessor came, was not taken, and will come again."""
        found = self._by_producer.get(producer_id)
        return found is None or found.epoch != epoch or sequence <= found.lowest_sequence

    def end(self, producer_id: int) -> None:
        """What the coordinator said was of the transaction that is over."""
        self._by_producer.pop(producer_id, None)

    def clear(self) -> None:
        self._by_producer.clear()
