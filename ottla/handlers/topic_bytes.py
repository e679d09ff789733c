"""Topics as the bytes of a Metadata answer, as long as neither they nor the brokers change."""

from __future__ import annotations

from ottla.metadata.image import TopicImage

Form = tuple[str, int, int | None]  # listener, version, operations that the client may do


class TopicBytes:
    """A change of a topic or of the live brokers makes new objects: so identity tells."""

    def __init__(self) -> None:
        self._brokers: object = None
        self._known: dict[str, tuple[TopicImage, dict[Form, bytes]]] = {}

    def get(self, topic: TopicImage, brokers: object, form: Form) -> bytes | None:
        if brokers is not self._brokers:
            self._known.clear()  # who is alive, and where, shows in each partition
            self._brokers = brokers
        known = self._known.get(topic.name)
        return known[1].get(form) if known is not None and known[0] is topic else None

    def put(self, topic: TopicImage, brokers: object, form: Form, data: bytes) -> None:
        assert brokers is self._brokers
        known = self._known.get(topic.name)
        if known is None or known[0] is not topic:
            known = self._known[topic.name] = (topic, {})
        known[1][form] = data

    def forget(self, names: tuple[str, ...]) -> None:
        """Topics that have changed or are gone."""
        for name in names:
            self._known.pop(name, None)
