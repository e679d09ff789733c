"""Record batches that lie: about their length, their count, their checksum, their size unpacked."""

from __future__ import annotations

import random
import struct
from functools import cache

from crc32c import crc32c

from ottla.protocol.records.batch import BATCH_OVERHEAD, build_batch, read_header, seal_batch
from ottla.protocol.records.compression import Codec, compress
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from tests.hostile.client import T0, batch_of

BOMB_BYTES = 128 * 1024 * 1024
_EXTREMES = (0, 1, -1, 0x7FFF_FFFF, -0x8000_0000, 1 << 20)
# Where the numbers of a batch header lie, and how wide they are.
_FIELDS = (
    (0, "q"), (8, "i"), (12, "i"), (16, "b"), (17, "i"), (21, "h"), (23, "i"), (27, "q"),
    (35, "q"), (43, "q"), (51, "h"), (53, "i"), (57, "i"),
)  # fmt: skip
_BITS = {"b": 8, "h": 16, "i": 32, "q": 64}


@cache
def bomb(codec: Codec) -> bytes:
    """One record of zeros, small on the wire and large in memory."""
    record = Record(0, T0, b"k", bytes(BOMB_BYTES), [])
    return build_batch([record], codec=codec)


def bad_batch(chance: random.Random) -> bytes:
    """Something that a producer should never send."""
    return chance.choice(_KINDS)(chance)


def _sample(chance: random.Random) -> bytes:
    codec = chance.choice([Codec.NONE, Codec.NONE, Codec.GZIP, Codec.LZ4, Codec.ZSTD, Codec.SNAPPY])
    count = chance.choice([1, 2, 40])
    keys = [b"k", b"", None]
    records = [
        Record(i, T0 + i, chance.choice(keys), b"v" * chance.randint(0, 50), [("h", b"1")])
        for i in range(count)
    ]
    if chance.random() < 0.2:
        return build_message_set(records, magic=chance.choice([0, 1]), codec=Codec.GZIP)
    return build_batch(
        records,
        codec=codec,
        producer_id=chance.choice([-1, 7, 1 << 62]),
        producer_epoch=chance.choice([-1, 0, 32767]),
        base_sequence=chance.choice([-1, 0, 5, 0x7FFF_FFFF]),
        is_transactional=chance.random() < 0.1,
        is_control=chance.random() < 0.1,
    )


def _with_right_checksum(data: bytearray) -> bytes:
    if len(data) > BATCH_OVERHEAD:
        struct.pack_into(">I", data, 17, crc32c(data[21:]))
    return bytes(data)


def _lying_field(chance: random.Random) -> bytes:
    data = bytearray(_sample(chance))
    at, code = chance.choice(_FIELDS)
    bits = _BITS[code]
    if at + bits // 8 > len(data):
        return bytes(data)
    value = chance.choice((*_EXTREMES, chance.getrandbits(16))) & ((1 << bits) - 1)
    struct.pack_into(f">{code.upper()}", data, at, value)
    return _with_right_checksum(data) if at > 20 else bytes(data)


def _wrong_content(chance: random.Random) -> bytes:
    """The checksum is right, what it covers is not."""
    data = bytearray(_sample(chance))
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(min(21, len(data) - 1), len(data))] = chance.getrandbits(8)
    return _with_right_checksum(data)


def _wrong_checksum(chance: random.Random) -> bytes:
    data = bytearray(_sample(chance))
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def _cut(chance: random.Random) -> bytes:
    data = _sample(chance)
    return data[: chance.randrange(len(data))]


def _many(chance: random.Random) -> bytes:
    return b"".join(_sample(chance) for _ in range(chance.randint(2, 5)))


def _noise_as_compressed(chance: random.Random) -> bytes:
    header = read_header(batch_of(b"x"))
    codec = chance.randint(1, 7)
    payload = chance.randbytes(chance.randint(0, 200))
    if codec <= Codec.ZSTD and chance.random() < 0.5:
        payload = compress(Codec(codec), payload)
    return seal_batch(header._replace(attributes=codec), payload)


def _noise(chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice([0, 1, 11, 12, 17, 61, 62, 500]))


_KINDS = (
    _sample, _lying_field, _wrong_content, _wrong_checksum, _cut, _many, _noise_as_compressed,
    _noise,
)  # fmt: skip
