"""What the broker itself says of transactions, asked over the wire with no client between."""

from __future__ import annotations

from ottla.protocol.apis.describe_transactions import DescribeTransactionsRequest
from ottla.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from ottla.protocol.errors import ErrorCode
from tests.clients.groups import coordinator
from tests.targets.connection import ask

COMPLETE_ABORT = "CompleteAbort"
_READ_COMMITTED = 1


def state(bootstrap: str, transactional_id: str) -> str:
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    (found,) = ask(bootstrap, request, 0).transaction_states
    assert found.error_code == 0, found
    name: str = found.transaction_state
    return name


def has_pending_offset(bootstrap: str, group: str, topic: str) -> bool:
    """Whether who wants the stable one of partition 0 must come again."""
    wanted = [OffsetFetchRequestTopic(name=topic, partition_indexes=[0])]
    request = OffsetFetchRequest(group_id=group, topics=wanted, require_stable=True)
    (found,) = ask(bootstrap, request, 7).topics
    code: int = found.partitions[0].error_code
    return code == ErrorCode.UNSTABLE_OFFSET_COMMIT


def is_settled(bootstrap: str, topic: str, partitions: int) -> bool:
    """No transaction is open: readers of what is committed come to the end."""
    stable = coordinator.ends(bootstrap, topic, partitions, isolation_level=_READ_COMMITTED)
    return stable == coordinator.ends(bootstrap, topic, partitions)
