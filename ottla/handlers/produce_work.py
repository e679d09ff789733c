"""Produced batches whose records are looked at or written anew: by a file thread, not on the loop.

Most topics take batches as they are, and nothing of this is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ottla.coordinators.groups.answers import TopicPartition
from ottla.handlers.call import Call
from ottla.handlers.transactional_produce import Named
from ottla.protocol.errors import KafkaError
from ottla.storage.config import LogConfig
from ottla.storage.long_way import prepare

Prepared = Mapping[TopicPartition, memoryview | KafkaError]  # or why it cannot be appended
NOT_PREPARED: Prepared = {}


def copied(named: Named) -> Named:
    """For a request that is not done in this tick: the buffer that it is in is used again."""
    return {
        place: None if records is None else memoryview(bytearray(records))
        for place, records in named.items()
    }


def prepare_later(call: Call, named: Named, then: Callable[[Named, Prepared], object]) -> bool:
    """False if it is not needed; else `then` hears, with a copy of what the request named."""
    configs = _of_those_with_work(call, named)
    if not configs:
        return False
    kept, now_ms = copied(named), call.services.clock.now_ms()
    prepared: dict[TopicPartition, memoryview | KafkaError] = {}

    def work() -> None:
        for place, config in configs.items():
            records = kept[place]
            assert records is not None
            try:
                prepared[place] = prepare(records, config, now_ms=now_ms)
            except KafkaError as refusal:
                # Its traceback would hold us, and we hold it: all that was unpacked would stay.
                prepared[place] = refusal.with_traceback(None)

    def done(bug: BaseException | None) -> None:
        """Also for who has gone: with acks=0 nobody waits for more than to have sent it."""
        try:
            if bug is not None:
                raise bug
            then(kept, prepared)
        except Exception:
            call.connection.close()  # there is no answer to wait for
            raise

    call.park()
    call.services.replicas.hop.run_in_turn(work, done)
    return True


def _of_those_with_work(call: Call, named: Named) -> dict[TopicPartition, LogConfig]:
    partitions, configs = call.services.replicas.partitions, {}
    for place, records in named.items():
        partition = partitions.get(place)
        if records is not None and partition is not None and partition.needs_work(records):
            configs[place] = partition.local_log().config
    return configs
