"""What a mistake in the bytes or in a value is called: the exact words, the path, the place."""

from collections.abc import Callable
from typing import Any

import pytest

from ottla.protocol.codec import decode, encode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.plain import PlainReader, PlainWriter, explain_read, explain_write
from ottla.protocol.primitives import Int8, Int16, Int32, Uuid, VarInt
from ottla.protocol.schema import Message, Struct, field, message


class Partition(Struct):
    index: Int32
    racks: list[str]


class Topic(Struct):
    name: str
    partitions: list[Partition]


@message(newest=0, flexible_from=None)
class Old(Message):
    code: Int16
    note: str | None
    topics: list[Topic]


@message(newest=0, flexible_from=0)
class New(Message):
    code: Int16
    content: bytes
    inner: Topic | None
    limit: Int32 = field(tag=0, default=-1)
    id: Uuid = field(tag=1, default=bytes(16))


@message(newest=0, flexible_from=None)
class Numbers(Message):
    varying: VarInt
    small: list[Int8]


READING = [
    (Old, "00", "code, byte 0: int16 needs 2 bytes, 1 are left"),
    (Old, "0000 00", "note, byte 2: a length needs 2 bytes, 1 are left"),
    (Old, "0000 fffe", "note, byte 2: the length -2 is negative"),
    (Old, "0000 0003 6161", "note, byte 4: string of length 3 needs 3 bytes, 2 are left"),
    (Old, "0000 0002 61ff", "note, byte 5: not UTF-8: invalid start byte"),
    (Old, "0000 ffff ffffffff", "topics, byte 4: null is not allowed here"),
    (Old, "0000 ffff 00000009 00", "topics, byte 4: an array of 9 does not fit into 1 bytes"),
    (
        Old,  # one topic "a", of its two partitions the second one is cut off
        "0000 ffff 00000001 0001 61 00000002 00000007 00000000 0000",
        "topics[0].partitions[1].index, byte 23: int32 needs 4 bytes, 2 are left",
    ),
    (
        Old,  # the second rack of the first partition has a length of -3
        "0000 ffff 00000001 0001 61 00000001 00000007 00000002 0001 62 fffd",
        "topics[0].partitions[0].racks[1], byte 26: the length -3 is negative",
    ),
    (New, "0000", "content, byte 2: the bytes end inside the unsigned varint"),
    (New, "0000 00", "content, byte 2: null is not allowed here"),
    (New, "0000 8080808080", "content, byte 2: a varint of more than 5 bytes"),
    (New, "0000 06 aabb", "content, byte 3: bytes of length 5 needs 5 bytes, 2 are left"),
    (New, "0000 01 05", "inner, byte 3: the null marker is 5, not 1 or -1"),
    (New, "0000 01 ff", "(tags), byte 4: the bytes end inside the unsigned varint"),
    (New, "0000 01 01 01 01", "inner.(tags), byte 6: the bytes end inside the unsigned varint"),
    (New, "0000 01 ff 01 05 02 aa", "(tags), byte 7: tag 5 needs 2 bytes, 1 are left"),
    (New, "0000 01 ff 02 0600 0500", "(tags), byte 7: tag 5 after tag 6: tags must ascend"),
    (New, "0000 01 ff 02 0600 0600", "(tags), byte 7: tag 6 after tag 6: tags must ascend"),
    (New, "0000 01 ff 01 00 09", "limit, byte 7: the tagged field needs 9 bytes, 0 are left"),
    (New, "0000 01 ff 01 00 03 000000", "limit, byte 7: int32 needs 4 bytes, 3 are left"),
    (
        New,
        "0000 01 ff 01 00 05 0000000000",
        "limit, byte 7: the tagged field says 5 bytes, its value takes 4",
    ),
    (Numbers, "ff", "varying, byte 0: the bytes end inside the varint"),
]


@pytest.mark.parametrize(("cls", "data", "told"), READING)
def test_wrong_bytes_are_explained(cls: type[Message], data: str, told: str) -> None:
    wanted = f"INVALID_REQUEST: {cls.__name__} v0, field {told}"
    with pytest.raises(ProtocolError) as compiled:
        decode(cls, bytes.fromhex(data), 0)
    assert str(compiled.value) == wanted
    with pytest.raises(ProtocolError) as plain:
        PlainReader(cls, 0, bytes.fromhex(data)).message()
    assert str(plain.value) == wanted


def old(**values: Any) -> Old:
    return Old(**{"code": 0, "note": None, "topics": [], **values})


def new(**values: Any) -> New:
    return New(**{"code": 0, "content": b"", "inner": None, **values})


def topic(racks: Any) -> Topic:
    return Topic(name="a", partitions=[Partition(index=0, racks=racks)])


def unset() -> Old:
    message = Old.__new__(Old)
    message.unknown_tags = ()
    message.code, message.note = 0, None
    return message


SHORT = "'h' format requires -32768 <= number <= 32767"
WRITING: list[tuple[Callable[[], Message], str]] = [
    (lambda: old(code=40_000), f"code: int16 cannot hold 40000: {SHORT}"),
    (lambda: old(code=None), "code: null is not allowed here"),
    (
        lambda: old(code="5"),
        "code: int16 cannot hold '5': required argument is not an integer",
    ),
    (lambda: old(topics=None), "topics: null is not allowed here"),
    (lambda: old(topics=[None]), "topics[0]: null is not allowed here"),
    (
        lambda: old(note=7),
        "note: string cannot hold 7: 'int' object has no attribute 'encode'",
    ),
    (lambda: old(note="x" * 40_000), "note: a string of 40000 bytes is too long"),
    (
        lambda: old(note="\ud800"),
        "note: string cannot hold '\\ud800': "
        "'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed",
    ),
    (
        lambda: old(topics=[topic(["b", None])]),
        "topics[0].partitions[0].racks[1]: null is not allowed here",
    ),
    (
        lambda: old(topics=[topic(5)]),
        "topics[0].partitions[0].racks: this field cannot hold 5: "
        "object of type 'int' has no len()",
    ),
    (unset, "topics: the field was never set"),
    (
        lambda: new(content="text"),
        "content: bytes cannot hold 'text': memoryview: a bytes-like object is required, not 'str'",
    ),
    (lambda: new(id=b"short"), "id: a uuid has 16 bytes, not 5"),
    (lambda: new(limit=None), "limit: null is not allowed here"),
]


@pytest.mark.parametrize(("make", "told"), WRITING)
def test_a_wrong_value_is_explained(make: Callable[[], Message], told: str) -> None:
    message = make()
    wanted = f"INVALID_REQUEST: {type(message).__name__} v0, field {told}"
    with pytest.raises(ProtocolError) as compiled:
        encode(message, 0)
    assert str(compiled.value) == wanted
    with pytest.raises(ProtocolError) as plain:
        PlainWriter(message, 0).message()
    assert str(plain.value) == wanted


def test_what_the_plain_codec_accepts_is_refused_without_a_place() -> None:
    read = explain_read(Numbers, bytes.fromhex("00 00000000"), 0, 0)
    assert str(read) == "INVALID_REQUEST: Numbers v0, byte 0: the bytes cannot be read"
    written = explain_write(old(), 0)
    assert str(written) == "INVALID_REQUEST: Old v0: the message cannot be written"
