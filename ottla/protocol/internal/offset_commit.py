"""A committed offset in `__consumer_offsets`: its key and its value."""

from ottla.protocol.primitives import Int32, Int64
from ottla.protocol.schema import Message, field, message


@message(newest=1, flexible_from=None)
class OffsetCommitKey(Message):
    group: str
    topic: str
    partition: Int32


@message(newest=4, flexible_from=4)
class OffsetCommitValue(Message):
    offset: Int64
    leader_epoch: Int32 = field(since=3, default=-1, ignorable=True)
    metadata: str
    commit_timestamp: Int64
    expire_timestamp: Int64 = field(since=1, until=1, default=-1, ignorable=True)
