"""An answer as JSON without what differs from run to run: ids, times, addresses, wording."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from ottla.protocol.apis.fetch import FetchResponse
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.readable import to_json, uuid_text
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.protocol.schema import Message
from tests.differential.case import World

# The cases write records of 2020 and of 2096: what lies between is a clock's.
_NOW = range(1_700_000_000_000, 2_500_000_000_000)
_LONGEST_SHOWN = 60
_OTHER_RUNS = re.compile(r"d[0-9a-f]+-|__")
# What names an element of a list, in this order; such a list is compared without its order.
KEYS = (
    "name", "topic", "topicName", "topicId", "resourceName", "apiKey", "nodeId", "brokerId",
    "partitionIndex", "partitionId", "partition", "index", "logDir", "transactionalId",
    "producerId", "user", "entityType", "groupId", "key", "memberId",
)  # fmt: skip
_PLACES = {
    "advertised.listeners", "broker.id", "listeners", "log.dir", "log.dirs", "zookeeper.connect",
}  # fmt: skip


def key_of(item: Any) -> str | None:
    if isinstance(item, dict):
        for key in KEYS:
            if key in item:
                return str(item[key])
    return None


class Normal:
    """Names ids by the order in which a case meets them, so that equal ids stay equal."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._ids: dict[tuple[str, int], str] = {}

    def answer(self, body: Message, version: int) -> Any:
        is_ordered = isinstance(body, FetchResponse)  # KIP-74: the order is the broker's choice
        return self._value("", to_json(body, version), is_ordered)

    def _value(self, name: str, value: Any, is_ordered: bool) -> Any:
        if isinstance(value, dict):
            inner = {key: self._value(key, each, is_ordered) for key, each in value.items()}
            return _without_places(inner)
        if isinstance(value, list):
            # A producer's or a reader's answer has what was asked for, and nothing else.
            ours = value if name == "responses" else filter(self._is_ours, value)
            items = [self._value(name, each, is_ordered) for each in ours]
            keys = [key_of(item) for item in items]
            # Of quotas, and of a transaction: in the order of a hash table.
            if name in ("entries", "values") or (name == "partitions" and None in keys):
                return sorted(items, key=json.dumps)
            is_named = bool(items) and None not in keys and name != "synonyms"
            return sorted(items, key=_sort_key) if is_named and not is_ordered else items
        return self._scalar(name, value)

    def _is_ours(self, item: Any) -> bool:
        if not isinstance(item, dict):
            return True
        names = ("name", "topic", "groupId", "user", "transactionalId")
        named = next((item[key] for key in names if key in item), None)
        if not isinstance(named, str) or named.startswith(self._world.prefix):
            return True
        return not _OTHER_RUNS.match(named)

    def _scalar(self, name: str, value: Any) -> Any:
        if value is not None and name in _BY_NAME:
            return _BY_NAME[name](self, value)
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return _time(value)
        if isinstance(value, str):
            return value.replace(self._world.prefix, "")
        return value

    def _id(self, kind: str, value: int) -> str | int:
        if value <= 0 and not (kind == "producer" and value == 0):
            return value
        count = sum(known == kind for known, _ in self._ids)
        return self._ids.setdefault((kind, value), f"<{kind} {count + 1}>")

    def _member(self, text: str) -> str:
        """Those that the broker has named, by their order."""
        members = self._world.members
        if text in members:
            return f"<member {members.index(text) + 1}>"
        return text.replace(self._world.prefix, "")

    def _topic_id(self, text: str) -> str:
        for topic, topic_id in self._world.topic_ids.items():
            if uuid_text(topic_id) == text:
                return f"<id of {topic}>"
        return text

    def _records(self, text: str) -> Any:
        data = b64decode(text)
        try:
            batches = list(read_batches(data))
            shown = [self._batch(batch) for batch in batches]
        except KafkaError as error:
            return {"unreadable": str(error), "bytes": data.hex()}
        read = sum(batch.size_bytes for batch in batches)
        return {"batches": shown, "cutOffBytes": len(data) - read}

    def _batch(self, batch: Batch) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "magic": batch.magic,
            "offsets": [batch.base_offset, batch.last_offset],
            "codec": batch.codec.name.lower(),
            "timestampType": batch.timestamp_type.name,
            "maxTimestamp": _time(batch.max_timestamp),
        }
        if header := batch.header:
            facts |= {
                "leaderEpoch": header.partition_leader_epoch,
                "producer": self._id("producer", header.producer_id),
                "producerEpoch": header.producer_epoch,
                "sequence": header.base_sequence,
                "attributes": header.attributes,
            }
        return facts | {"records": [_record(record) for record in batch.records()]}


def _record(record: Record) -> list[Any]:
    headers = [[name, _text(value)] for name, value in record.headers]
    return [
        record.offset, _time(record.timestamp), _text(record.key), _text(record.value), *headers,
    ]  # fmt: skip


def _text(data: bytes | None) -> str | None:
    if data is None or len(data) <= _LONGEST_SHOWN:
        return data if data is None else data.decode("latin-1")
    return f"{data[:10].decode('latin-1')}... {len(data)} bytes"


def _time(value: int) -> int | str:
    return "<now>" if value in _NOW else value


def _sort_key(item: Any) -> str:
    return "/".join(str(item.get(key, "")).rjust(8) for key in KEYS)


def _without_places(item: dict[str, Any]) -> dict[str, Any]:
    """A configuration's value that says where the broker lives."""
    if item.get("name") in _PLACES and item.get("value") is not None:
        return item | {"value": "<place>"}
    return item


def _error(_: Normal, code: int) -> str | int:
    return _ERRORS.get(code, code)


_ERRORS = {int(error): error.name for error in ErrorCode}


def _hidden(word: str) -> Callable[[Normal, Any], str]:
    # That there is a text is Kafka's behaviour; how it is worded is each broker's own.
    return lambda _, value: f"<{word}>" if value != "" else ""


_BY_NAME: dict[str, Callable[[Normal, Any], Any]] = {
    "errorCode": _error,
    "topicConfigErrorCode": _error,
    "partitionErrorCode": _error,
    "host": _hidden("host"),
    "port": _hidden("port"),
    "clusterId": _hidden("cluster id"),
    "logDir": _hidden("log dir"),
    "totalBytes": _hidden("bytes"),
    "usableBytes": _hidden("bytes"),
    "errorMessage": _hidden("text"),
    "batchIndexErrorMessage": _hidden("text"),
    "documentation": _hidden("text"),
    "topicId": Normal._topic_id,
    "producerId": lambda normal, value: normal._id("producer", value),
    "sessionId": lambda normal, value: normal._id("session", value),
    "records": Normal._records,
    "memberId": Normal._member,
    "leader": lambda normal, value: normal._member(value) if isinstance(value, str) else value,
}
