"""What holds last stable offsets, put together from leaders and coordinators; and the abort."""

from __future__ import annotations

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.open_transactions import abort
from ottla.admin.stability import Stability, Transactions
from ottla.admin.transaction_verdicts import Judged, Verdict
from ottla.protocol.apis.write_txn_markers import WriteTxnMarkersRequest
from ottla.protocol.errors import ErrorCode, KafkaError
from tests.unit.admin.transactions import (
    FIRST,
    HIGH_WATERMARK,
    MINUTE_MS,
    NOW_MS,
    SECOND,
    ScriptedTransactions,
    known,
    opened,
)


class FixedClock:
    def now_ms(self) -> int:
        return NOW_MS


def look(script: ScriptedTransactions) -> dict[TopicPartition, Stability | KafkaError]:
    async def ask(cluster: Cluster) -> dict[TopicPartition, Stability | KafkaError]:
        return await Transactions(cluster, FixedClock()).look([FIRST, SECOND])

    return script.cluster.run(ask)


def sound(script: ScriptedTransactions) -> list[Stability]:
    return [each for each in look(script).values() if isinstance(each, Stability)]


def find_hanging(
    script: ScriptedTransactions, *, silent_ms: int = 15 * MINUTE_MS
) -> tuple[list[Judged], dict[TopicPartition, KafkaError]]:
    async def ask(cluster: Cluster) -> tuple[list[Judged], dict[TopicPartition, KafkaError]]:
        view = Transactions(cluster, FixedClock())
        return await view.find_hanging([FIRST, SECOND], silent_ms=silent_ms)

    return script.cluster.run(ask)


def test_where_nothing_is_open_no_coordinator_is_asked() -> None:
    script = ScriptedTransactions()
    first, second = sound(script)
    assert (first.last_stable_offset, first.high_watermark) == (HIGH_WATERMARK, HIGH_WATERMARK)
    assert not first.stands_still
    assert not second.stands_still
    assert "ListTransactions" not in script.cluster.kinds()


def test_the_first_open_transaction_is_where_the_last_stable_offset_stands() -> None:
    script = ScriptedTransactions()
    script.opened = [opened(start_offset=300, producer_id=9), opened(), opened(SECOND)]
    script.known = [known("etl-1", FIRST, SECOND)]
    first, second = sound(script)
    assert [each.open.start_offset for each in first.open] == [120, 300]
    assert (first.last_stable_offset, first.held_back) == (120, 380)
    assert [each.verdict for each in first.open] == [Verdict.ONGOING, Verdict.HANGING]
    assert [each.verdict for each in second.open] == [Verdict.ONGOING]
    assert first.open[0].began_ms == NOW_MS - 2 * MINUTE_MS


def test_what_nobody_knows_is_as_old_as_its_first_record() -> None:
    script = ScriptedTransactions()
    script.opened = [opened(), opened(producer_id=9, start_offset=300), opened(SECOND)]
    first, second = sound(script)
    assert [each.began_ms for each in (*first.open, *second.open)] == [120, 300, 120]


def test_an_end_that_is_not_replicated_yet_holds_back_without_anything_open() -> None:
    script = ScriptedTransactions()
    script.stable_offset = 400
    first, _ = sound(script)
    assert (first.open, first.held_back, first.stands_still) == ((), 100, True)


def test_a_partition_that_cannot_be_looked_at_is_told_with_the_reason() -> None:
    script = ScriptedTransactions()
    script.refuse = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    refused = look(script)[FIRST]
    assert isinstance(refused, KafkaError)
    assert refused.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert find_hanging(script)[1].keys() == {FIRST, SECOND}


def test_what_hangs_is_found_among_what_is_open() -> None:
    script = ScriptedTransactions()
    script.opened = [opened(), opened(SECOND, producer_id=9)]
    script.known = [known("etl-1", FIRST)]
    (hanging,), refused = find_hanging(script)
    assert (hanging.open.partition, hanging.open.producer_id) == (SECOND, 9)
    assert (hanging.began_ms, refused) == (120, {})


def test_what_ends_between_two_looks_did_not_hang() -> None:
    script = ScriptedTransactions()
    script.opened = [opened(), opened(SECOND)]
    script.after_looks = [opened(SECOND)]
    hanging, _ = find_hanging(script)
    assert [each.open.partition for each in hanging] == [SECOND]
    assert script.looks == 2


def test_a_producer_that_wrote_lately_is_not_suspected() -> None:
    script = ScriptedTransactions()
    script.opened = [opened()]
    assert find_hanging(script, silent_ms=60 * MINUTE_MS) == ([], {})
    assert "ListTransactions" not in script.cluster.kinds()
    assert len(find_hanging(script, silent_ms=60 * MINUTE_MS - 1)[0]) == 1


def test_an_abort_is_a_marker_with_the_lowest_coordinator_epoch_where_none_is_known() -> None:
    script = ScriptedTransactions()
    script.opened = [opened()]

    async def end(cluster: Cluster) -> KafkaError | None:
        return await abort(cluster, FIRST, producer_id=4001, producer_epoch=2, coordinator_epoch=-1)

    assert script.cluster.run(end) is None
    assert script.opened == []
    (_, request), *_ = [each for each in script.cluster.asked if each[0] == 0]
    assert isinstance(request, WriteTxnMarkersRequest)
    (marker,) = request.markers
    assert (marker.coordinator_epoch, marker.transaction_result) == (0, False)
    script.refuse = ErrorCode.TRANSACTION_COORDINATOR_FENCED
    refused = script.cluster.run(end)
    assert refused is not None
    assert refused.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
