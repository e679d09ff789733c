"""What came in and went out, by topic; read by the metrics."""

from __future__ import annotations

from collections.abc import Iterator


class TopicTraffic:
    """Requests are counted once for each partition that they name, as in Kafka.

    Not here: produces by the shortcut, which counts requests by topic itself.
    """

    __slots__ = (
        "bytes_in", "bytes_out", "bytes_rejected", "failed_fetches", "failed_produces", "fetches",
        "messages_in", "messages_read_old", "messages_written_old", "produces",
    )  # fmt: skip

    def __init__(self) -> None:
        self.messages_in = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.bytes_rejected = 0  # they were too large
        self.produces = 0
        self.failed_produces = 0
        self.fetches = 0
        self.failed_fetches = 0
        self.messages_read_old = 0  # converted to what an old consumer understands
        self.messages_written_old = 0  # converted from what an old producer sent

    def add(self, other: TopicTraffic) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Traffic:
    """That of topics that were deleted stays in the total, which only grows."""

    def __init__(self) -> None:
        self.by_topic: dict[str, TopicTraffic] = {}
        self.replication_bytes_out = 0
        self._gone = TopicTraffic()

    def of(self, topic: str) -> TopicTraffic:
        found = self.by_topic.get(topic)
        if found is None:
            found = self.by_topic[topic] = TopicTraffic()
        return found

    def total(self) -> TopicTraffic:
        total = TopicTraffic()
        for each in self._all():
            total.add(each)
        return total

    def _all(self) -> Iterator[TopicTraffic]:
        yield self._gone
        yield from self.by_topic.values()

    def topic_deleted(self, topic: str) -> None:
        gone = self.by_topic.pop(topic, None)
        if gone is not None:
            self._gone.add(gone)
