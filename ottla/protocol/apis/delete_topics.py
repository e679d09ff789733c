"""DeleteTopics (20): topics by name or id go away."""

from ottla.protocol.primitives import ZERO_UUID, Int16, Int32, Uuid
from ottla.protocol.schema import Message, Struct, field, message


class DeleteTopicState(Struct):
    name: str | None = None
    topic_id: Uuid


@message(key=20, newest=6, flexible_from=4)
class DeleteTopicsRequest(Message):
    topics: list[DeleteTopicState] = field(since=6, default=[])
    topic_names: list[str] = field(until=5, default=[], ignorable=True)
    timeout_ms: Int32


class DeletableTopicResult(Struct):
    name: str | None = field(nullable_since=6)
    topic_id: Uuid = field(since=6, default=ZERO_UUID, ignorable=True)
    error_code: Int16 = 0
    error_message: str | None = field(since=5, default=None, ignorable=True)


@message(key=20, newest=6, flexible_from=4)
class DeleteTopicsResponse(Message):
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    responses: list[DeletableTopicResult]
