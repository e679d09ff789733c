"""Requests about topics that are done in the store, and wait until this broker was told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ottla.handlers.call import Call
from ottla.metadata.image import ClusterImage

IsDone = Callable[[ClusterImage], bool]


class DelayedTopics:
    """Answers once, with the names of those that are not done yet when the time is over."""

    __slots__ = ("_call", "_open", "_reply", "completed")

    def __init__(
        self, call: Call, topics: Mapping[str, IsDone], reply: Callable[[list[str]], None]
    ) -> None:
        self.completed = False
        self._call = call
        self._open = dict(topics)
        self._reply = reply

    def try_complete(self) -> bool:
        if not self.completed and not self._late():
            self._complete()
        return self.completed

    def _late(self) -> list[str]:
        image = self._call.services.metadata.image
        self._open = {name: done for name, done in self._open.items() if not done(image)}
        return list(self._open)

    def expire(self) -> None:
        self._late()
        self._complete()

    def _complete(self) -> None:
        self.completed = True
        self._reply(list(self._open))


def wait_for_topics(
    call: Call,
    topics: Mapping[str, IsDone],
    reply: Callable[[list[str]], None],
    *,
    timeout_ms: int,
) -> None:
    """`reply` gets the names of those that were not done in time."""
    if timeout_ms <= 0:
        reply(list(topics))  # as in Kafka: who does not wait hears that it took too long
        return
    operation = DelayedTopics(call, topics, reply)
    call.services.topic_operations.park(operation, watch=list(topics), timeout_ms=timeout_ms)


def has_leaders(topic: str, indexes: Iterable[int]) -> IsDone:
    """Whether clients that ask this broker find a leader for each of the partitions."""
    wanted = tuple(indexes)

    def is_done(image: ClusterImage) -> bool:
        found = (image.partition(topic, index) for index in wanted)
        return all(each is not None and each.leader in image.brokers for each in found)

    return is_done


def no_room(call: Call, topic: str, indexes: Iterable[int]) -> str | None:
    """Why partitions have no log here, though the topic exists; None if they have theirs.

    The controller has announced their leaders before it could know.
    """
    refused = call.services.leadership.refused
    for index in indexes:
        if (topic, index) in refused:
            reason = refused[topic, index].reason
            return f"{topic}-{index} is created, but has no leader until there is room: {reason}"
    return None


def is_gone(topic: str) -> IsDone:
    return lambda image: topic not in image.topics
