"""A length that promises two gigabytes in a frame of twenty bytes is refused, and costs nothing."""

import tracemalloc
from collections.abc import Iterator

import pytest

from ottla.protocol.codec import decode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.framing import decode_request, split_frames
from ottla.protocol.plain import PlainReader
from ottla.protocol.primitives import Int8, Int32, Int64, Records, Uuid
from ottla.protocol.schema import Message, Struct, field, message

MOST_BYTES = 1_000_000


class Point(Struct):
    x: Int8


# Version 0 has the old lengths, version 1 the compact ones.
@message(newest=1, flexible_from=1)
class Int32s(Message):
    values: list[Int32]


@message(newest=1, flexible_from=1)
class Int64s(Message):
    values: list[Int64]


@message(newest=1, flexible_from=1)
class NullableInt32s(Message):
    values: list[Int32] | None


@message(newest=1, flexible_from=1)
class Booleans(Message):
    values: list[bool]


@message(newest=1, flexible_from=1)
class Structs(Message):
    values: list[Point]


@message(newest=1, flexible_from=1)
class Strings(Message):
    values: list[str]


@message(newest=1, flexible_from=1)
class Uuids(Message):
    values: list[Uuid]


@message(newest=1, flexible_from=1)
class Bytes(Message):
    values: bytes


@message(newest=1, flexible_from=1)
class RecordSet(Message):
    values: Records


@message(newest=1, flexible_from=1)
class Text(Message):
    values: str


@message(newest=0, flexible_from=0)
class Tagged(Message):
    values: list[Int32] = field(tag=0, default=[])


@pytest.fixture
def _little_memory() -> Iterator[None]:
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MOST_BYTES


INT32_MAX = bytes.fromhex("7fffffff")
INT16_MAX = bytes.fromhex("7fff")
# As unsigned varints: 2^31, which is a length of 2^31 - 1, and the largest there is, 2^32 - 1.
COMPACT_LIES = [bytes.fromhex("8080808008"), bytes.fromhex("ffffffff0f")]

COUNTED: list[type[Message]] = [
    Int32s, Int64s, NullableInt32s, Booleans, Structs, Strings, Uuids, Bytes, RecordSet, Text,
]  # fmt: skip


def expect_refused(cls: type[Message], version: int, data: bytes, path: str = "values") -> None:
    with pytest.raises(ProtocolError) as refused:
        decode(cls, data, version)
    assert refused.value.path == path
    with pytest.raises(ProtocolError):
        PlainReader(cls, version, data).message()


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("cls", COUNTED)
def test_a_length_beyond_the_frame_is_refused(cls: type[Message]) -> None:
    # A text has only two bytes for its length, but cannot be longer than the frame either.
    lie = INT16_MAX if cls is Text else INT32_MAX
    expect_refused(cls, 0, lie.ljust(20, b"\0"))


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("lie", COMPACT_LIES)
@pytest.mark.parametrize("cls", COUNTED)
def test_a_compact_length_beyond_the_frame_is_refused(cls: type[Message], lie: bytes) -> None:
    expect_refused(cls, 1, lie.ljust(20, b"\0"))


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("cls", COUNTED)
def test_a_negative_length_is_refused(cls: type[Message]) -> None:
    # -2; -1 would be null where null is allowed.
    expect_refused(cls, 0, b"\xff\xfe" if cls is Text else b"\xff\xff\xff\xfe")


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("lie", COMPACT_LIES)
def test_lying_tag_buffers_are_refused(lie: bytes) -> None:
    # The number of tags: only 7 and 8 are there, both empty.
    expect_refused(Tagged, 0, lie + bytes.fromhex("0700 0800"), path="(tags)")
    expect_refused(Tagged, 0, (b"\x01\x07" + lie).ljust(20, b"\0"), path="(tags)")  # one's size
    expect_refused(Tagged, 0, (b"\x01\x00" + lie).ljust(20, b"\0"))  # the size of a known one
    # A known tag of 18 bytes, and a lie inside it.
    expect_refused(Tagged, 0, (b"\x01\x00\x12" + lie).ljust(21, b"\0"))


@pytest.mark.usefixtures("_little_memory")
def test_an_honest_tag_cannot_reach_into_the_bytes_behind_it() -> None:
    # Tag 0 says 3 bytes; its array of one int32 needs five, which the frame would have.
    expect_refused(Tagged, 0, bytes.fromhex("010003 02 00000001 00"))


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("size", [0x7FFF_FFFF, 1_000_001, -1, -0x8000_0000])
def test_a_frame_of_an_impossible_size_is_refused(size: int) -> None:
    frame = size.to_bytes(4, "big", signed=True) + bytes(16)
    with pytest.raises(ProtocolError, match=r"frame, field size, byte 0: the size -?\d+ is not"):
        list(split_frames(frame, max_bytes=1_000_000))


@pytest.mark.usefixtures("_little_memory")
def test_a_lie_in_a_real_request_is_refused() -> None:
    # Metadata v0, correlation id 1, no client id, and 2 147 483 647 topics.
    with pytest.raises(ProtocolError, match=r"MetadataRequest v0, field topics, byte 10: "):
        decode_request(bytes.fromhex("0003 0000 00000001 ffff 7fffffff 00000000"))
    # Fetch v12 with a header v2: compact, the same number of topics.
    header = bytes.fromhex("0001 000c 00000001 ffff 00")
    body = bytes.fromhex("ffffffff 00000000 00000000 00000000 00 00000000 00000000 8080808008")
    with pytest.raises(ProtocolError, match=r"FetchRequest v12, field topics, byte 36: "):
        decode_request(header + body)
