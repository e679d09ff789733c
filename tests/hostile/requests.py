"""Requests of every kind with values from the corners, and ways to spoil their bytes."""

from __future__ import annotations

import random
from typing import Any

from ottla.controller.placement import MOST_PARTITIONS
from ottla.handlers import HANDLERS
from ottla.protocol.apis.create_partitions import CreatePartitionsRequest
from ottla.protocol.apis.create_topics import CreateTopicsRequest
from ottla.protocol.apis.fetch import FetchRequest
from ottla.protocol.errors import KafkaError
from ottla.protocol.framing import decode_request, encode_request
from ottla.protocol.layout import ArrayOf, Kind, Slot, default_of, layout_of
from ottla.protocol.primitives import STRING, Fixed, Sized, Varying
from ottla.protocol.registry import request_type
from ottla.protocol.schema import Message, Struct
from tests.hostile.batches import bad_batch
from tests.hostile.client import batch_of

TOPICS = ("fuzz", "fuzz-compacted", "fuzz-zipped", "fuzz-stamped")
# Between brokers: with these anybody can take partitions away, so no neighbour may be near.
BETWEEN_BROKERS = (4, 5, 6, 7)
OF_CLIENTS = tuple(key for key in HANDLERS if key not in BETWEEN_BROKERS)
_TEXTS = (
    *TOPICS, *TOPICS, "nobody", "", ".", "..", "a/b", "__consumer_offsets", "x" * 249, "x" * 300,
    "ü", "\0", "0", "retention.ms", "cleanup.policy", "max.message.bytes", "compact", "1", "-1",
    "0:0", "segment.bytes", "compression.type", "gzip",
)  # fmt: skip
_SMALL = ("num_partitions", "count", "replication_factor")
_TIMES = ("timeout_ms", "max_wait_ms", "throttle_time_ms")
_BITS = {"b": 8, "h": 16, "i": 32, "q": 64}
_MANY_PARTITIONS = range(51, MOST_PARTITIONS + 1)
_MOST_WAIT_MS = 200


def any_frame(chance: random.Random, *, key: int, version: int) -> bytes:
    """A whole frame that our own reader takes."""
    cls = request_type(key)
    message = _fill(chance, cls, version, flexible=cls.is_flexible(version))
    assert isinstance(message, Message)
    client_id = chance.choice([None, "", "fuzz", "ü" * 50])
    return encode_request(
        message, version, correlation_id=chance.getrandbits(31), client_id=client_id
    )


def _fill(chance: random.Random, cls: type[Struct], version: int, *, flexible: bool) -> Struct:
    layout = layout_of(cls, version, flexible=flexible)
    struct = cls.__new__(cls)
    struct.unknown_tags = ()
    for slot, _ in layout.absent:
        setattr(struct, slot.name, default_of(slot))
    for slot in (*layout.inline, *layout.tagged):
        value = _value(chance, slot.kind, slot, version, flexible=flexible)
        setattr(struct, slot.name, value)
    if flexible and chance.random() < 0.1:
        struct.unknown_tags = [(chance.choice([77, 99_999]), chance.randbytes(5))]
    return struct


def _value(chance: random.Random, kind: Kind, slot: Slot, version: int, *, flexible: bool) -> Any:
    if slot.tag is not None and chance.random() < 0.5:
        return default_of(slot)
    if slot.nullable and chance.random() < 0.1:
        return None
    if isinstance(kind, ArrayOf):
        element = slot._replace(nullable=False, tag=None)
        return [
            _value(chance, kind.element, element, version, flexible=flexible)
            for _ in range(chance.choice([0, 1, 1, 1, 2, 3]))
        ]
    if isinstance(kind, type):
        return _fill(chance, kind, version, flexible=flexible)
    return _plain(chance, kind, slot.name)


def _plain(chance: random.Random, kind: Fixed | Varying | Sized, name: str) -> Any:
    if isinstance(kind, Sized):
        if kind is STRING:
            return chance.choice(_TEXTS)
        return bad_batch(chance) if chance.random() < 0.7 else batch_of(b"fine", key=b"k")
    if name in _SMALL and isinstance(kind, Fixed):
        absurd = (1 << (_BITS[kind.code] - 1)) - 1
        return chance.choice([1, 1, 1, 2, 2, -1, 0, absurd])
    if name in _TIMES:
        return chance.choice([0, 1, 20, -1])
    if isinstance(kind, Varying):
        return chance.choice([0, 1, 127])
    if kind.name == "uuid":
        return chance.choice([bytes(16), chance.randbytes(16)])
    if kind.name == "boolean":
        return chance.random() < 0.5
    if kind.name == "float64":
        return chance.random()
    return _integer(chance, kind.code)


def _integer(chance: random.Random, code: str) -> int:
    if code not in _BITS:
        return chance.choice([0, 1, 9092])
    most = (1 << (_BITS[code] - 1)) - 1
    usual = [0, 0, 0, 1, 1, -1, -1, 2, 3]
    return chance.choice([*usual, chance.randint(-most, most), most, -most - 1])


def spoil(chance: random.Random, frame: bytes) -> bytes:
    """The frame with something wrong behind its size, which is right again."""
    body = bytearray(frame[4:])
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(6):
            case 0 if at < len(body):
                body[at] ^= 1 << chance.randrange(8)
            case 1 if at > 10:
                del body[at:]
            case 2:
                body[at:at] = body[at : at + chance.randint(1, 40)]
            case 3:
                body[at:at] = chance.randbytes(chance.randint(1, 8))
            case 4:
                body[at : at + 4] = chance.choice([b"\x7f\xff\xff\xff", b"\xff" * 4, b"\x80" * 4])
            case _:
                body[at : at + chance.randint(1, 9)] = b""
    return len(body).to_bytes(4, "big") + body


def is_fair(frame: bytes) -> bool:
    """Whether it may be sent: no thousands of partitions, which every broker would create.

    Those that no broker could create are fair: they must be refused.
    """
    request = _decoded(frame)
    counts: list[int] = []
    if isinstance(request, CreateTopicsRequest):
        counts += [each.num_partitions for each in request.topics]
    if isinstance(request, CreatePartitionsRequest):
        counts += [each.count for each in request.topics]
    return not any(count in _MANY_PARTITIONS for count in counts)


def may_park(frame: bytes) -> bool:
    """Whether the answer may take long, as the request asks."""
    request = _decoded(frame)
    if isinstance(request, FetchRequest):
        return request.max_wait_ms > _MOST_WAIT_MS
    return int(getattr(request, "timeout_ms", 0)) > _MOST_WAIT_MS


def _decoded(frame: bytes) -> Message | None:
    try:
        return decode_request(frame[4:]).body
    except KafkaError:
        return None
