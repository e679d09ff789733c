"""Every type of the wire against bytes computed by hand, in its old and its compact form."""

from typing import Any

import pytest

from ottla.protocol.codec import decode_at, encode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.plain import PlainReader, PlainWriter
from ottla.protocol.primitives import (
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Records,
    UInt16,
    UInt32,
    UnsignedVarInt,
    Uuid,
    VarInt,
    VarLong,
)
from ottla.protocol.schema import Message, Struct, field, message

OLD, COMPACT = 0, 1
# One `@message` per type: version 0 is not flexible, version 1 is and ends with a tag buffer.
per_type = message(newest=1, flexible_from=1)


@per_type
class OfInt8(Message):
    it: Int8


@per_type
class OfInt16(Message):
    it: Int16


@per_type
class OfInt32(Message):
    it: Int32


@per_type
class OfInt64(Message):
    it: Int64


@per_type
class OfUInt16(Message):
    it: UInt16


@per_type
class OfUInt32(Message):
    it: UInt32


@per_type
class OfFloat(Message):
    it: Float64


@per_type
class OfBoolean(Message):
    it: bool


@per_type
class OfUuid(Message):
    it: Uuid


@per_type
class OfVarInt(Message):
    it: VarInt


@per_type
class OfVarLong(Message):
    it: VarLong


@per_type
class OfUnsignedVarInt(Message):
    it: UnsignedVarInt


@per_type
class OfText(Message):
    it: str


@per_type
class OfNullableText(Message):
    it: str | None


@per_type
class OfBytes(Message):
    it: bytes


@per_type
class OfNullableBytes(Message):
    it: bytes | None


@per_type
class OfRecords(Message):
    it: Records


@per_type
class OfNullableRecords(Message):
    it: Records | None


@per_type
class OfInt32s(Message):
    it: list[Int32]


@per_type
class OfNullableInt32s(Message):
    it: list[Int32] | None


@per_type
class OfTexts(Message):
    it: list[str]


@per_type
class OfUuids(Message):
    it: list[Uuid]


@per_type
class OfUncompactText(Message):
    it: str | None = field(compact=False)


SAME_IN_BOTH: list[tuple[type[Message], Any, str]] = [
    (OfInt8, -128, "80"),
    (OfInt8, 127, "7f"),
    (OfInt16, -2, "fffe"),
    (OfInt16, 32767, "7fff"),
    (OfInt32, 0x01020304, "01020304"),
    (OfInt32, -(2**31), "80000000"),
    (OfInt64, 0x0102030405060708, "0102030405060708"),
    (OfInt64, -1, "ffffffffffffffff"),
    (OfUInt16, 65535, "ffff"),
    (OfUInt32, 2**32 - 1, "ffffffff"),
    # 1.5 is 1.1 in binary: no sign, exponent 0 + 1023 = 3ff, fraction 1000…
    (OfFloat, 1.5, "3ff8000000000000"),
    (OfFloat, -0.0, "8000000000000000"),
    (OfBoolean, False, "00"),
    (OfBoolean, True, "01"),
    (OfUuid, bytes(range(16)), "000102030405060708090a0b0c0d0e0f"),
    # Zig-zag: 0, -1, 1, -2 are 0, 1, 2, 3; then seven bits a byte, the low ones first.
    (OfVarInt, 0, "00"),
    (OfVarInt, -1, "01"),
    (OfVarInt, 63, "7e"),
    (OfVarInt, 64, "8001"),  # 128
    (OfVarInt, 2**31 - 1, "feffffff0f"),
    (OfVarInt, -(2**31), "ffffffff0f"),
    (OfVarLong, -64, "7f"),
    (OfVarLong, 2**63 - 1, "feffffffffffffffff01"),
    (OfVarLong, -(2**63), "ffffffffffffffffff01"),
    (OfUnsignedVarInt, 127, "7f"),
    (OfUnsignedVarInt, 128, "8001"),
    (OfUnsignedVarInt, 300, "ac02"),  # 300 = 2·128 + 44, and 44 with the high bit is ac
    (OfUnsignedVarInt, 2**32 - 1, "ffffffff0f"),
    (OfUncompactText, "ab", "0002 6162"),
    (OfUncompactText, None, "ffff"),
]
# A compact length is one more than the length, as a varint; 0 is null.
BY_FORM: list[tuple[type[Message], Any, str, str]] = [
    (OfText, "", "0000", "01"),
    (OfText, "ü", "0002 c3bc", "03 c3bc"),
    (OfText, "x" * 126, "007e" + "78" * 126, "7f" + "78" * 126),
    (OfText, "x" * 127, "007f" + "78" * 127, "8001" + "78" * 127),
    (OfNullableText, None, "ffff", "00"),
    (OfNullableText, "", "0000", "01"),
    (OfBytes, b"", "00000000", "01"),
    (OfBytes, b"\x00\xff", "00000002 00ff", "03 00ff"),
    (OfNullableBytes, None, "ffffffff", "00"),
    (OfNullableBytes, b"\x01", "00000001 01", "02 01"),
    (OfRecords, b"\x07" * 3, "00000003 070707", "04 070707"),
    (OfNullableRecords, None, "ffffffff", "00"),
    (OfInt32s, [], "00000000", "01"),
    (OfInt32s, [1, -1], "00000002 00000001 ffffffff", "03 00000001 ffffffff"),
    (OfInt32s, [5] * 127, "0000007f" + "00000005" * 127, "8001" + "00000005" * 127),
    (OfNullableInt32s, None, "ffffffff", "00"),
    (OfNullableInt32s, [2], "00000001 00000002", "02 00000002"),
    (OfTexts, ["a", ""], "00000002 000161 0000", "03 0261 01"),
    (OfUuids, [b"\x11" * 16], "00000001" + "11" * 16, "02" + "11" * 16),
]
NO_TAGS = "00"
EXAMPLES = [
    *((cls, OLD, value, old) for cls, value, old in SAME_IN_BOTH),
    *((cls, COMPACT, value, old + NO_TAGS) for cls, value, old in SAME_IN_BOTH),
    *((cls, OLD, value, old) for cls, value, old, _ in BY_FORM),
    *((cls, COMPACT, value, compact + NO_TAGS) for cls, value, _, compact in BY_FORM),
]


def expect_bytes(value: Message, version: int, wanted: str) -> None:
    """Compiled and plain, to bytes and back."""
    data = bytes.fromhex(wanted)
    assert encode(value, version).hex() == data.hex()
    assert PlainWriter(value, version).message().hex() == data.hex()
    assert decode_at(type(value), data, version) == (value, len(data))
    assert PlainReader(type(value), version, data).message() == value


@pytest.mark.parametrize(("cls", "version", "value", "wanted"), EXAMPLES)
def test_a_value_has_these_bytes(cls: type[Message], version: int, value: Any, wanted: str) -> None:
    expect_bytes(cls(it=value), version, wanted)


def test_any_byte_but_zero_is_true() -> None:
    assert decode_at(OfBoolean, b"\x02", OLD) == (OfBoolean(it=True), 1)


def test_records_are_a_view_and_not_a_copy() -> None:
    data = bytes.fromhex("00000003 070707")
    found = decode_at(OfRecords, data, OLD)[0].it
    assert isinstance(found, memoryview)
    assert found.obj is data


@pytest.mark.parametrize("cls", [OfText, OfBytes, OfRecords, OfInt32s, OfTexts, OfUuids])
def test_null_is_refused_where_it_is_not_declared(cls: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="field it: null is not allowed here"):
        encode(cls(it=None), COMPACT)
    with pytest.raises(ProtocolError, match="field it, byte 0: null is not allowed here"):
        decode_at(cls, b"\x00\x00", COMPACT)
    with pytest.raises(ProtocolError, match="field it, byte 0: null is not allowed here"):
        decode_at(cls, b"\xff\xff\xff\xff", OLD)


@pytest.mark.parametrize("version", [OLD, COMPACT])
def test_the_longest_text_has_32767_bytes_even_if_its_length_is_a_varint(version: int) -> None:
    longest = OfText(it="x" * 32767)
    assert decode_at(OfText, encode(longest, version), version)[0] == longest
    with pytest.raises(ProtocolError, match=r"v., field it: a string of 32768 bytes is too long"):
        encode(OfText(it="x" * 32768), version)
    with pytest.raises(ProtocolError, match=r"v., field it: a string of 32768 bytes is too long"):
        encode(OfText(it="ü" * 16384), version)


def test_a_longer_text_is_refused_on_reading_too() -> None:
    # 32769 is 2·16384 + 1: 81 80 02.
    data = bytes.fromhex("818002") + b"x" * 32768 + b"\0"
    with pytest.raises(ProtocolError, match="field it, byte 3: a string of 32768 bytes is too"):
        decode_at(OfText, data, COMPACT)


@pytest.mark.parametrize("size", [0, 15, 17])
def test_an_id_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(ProtocolError, match=f"field it: a uuid has 16 bytes, not {size}"):
        encode(OfUuid(it=bytes(size)), OLD)
    with pytest.raises(ProtocolError, match=rf"field it\[1\]: a uuid has 16 bytes, not {size}"):
        encode(OfUuids(it=[bytes(16), bytes(size)]), COMPACT)


class Point(Struct):
    x: Int8
    y: Int8 = field(tag=0, default=0)


@message(newest=1, flexible_from=1)
class Shape(Message):
    corner: Point
    centre: Point | None
    others: list[Point]


def test_structs_stand_in_line_and_a_null_one_is_minus_one() -> None:
    shape = Shape(corner=Point(x=1), centre=None, others=[Point(x=2), Point(x=3)])
    # corner · the null marker -1 · a count and two points
    expect_bytes(shape, OLD, "01 ff 00000002 02 03")
    # Now every struct ends with its own tag buffer, here an empty one.
    expect_bytes(shape, COMPACT, "0100 ff 03 0200 0300 00")


def test_a_nullable_struct_that_is_there_has_a_one_before_it() -> None:
    shape = Shape(corner=Point(x=1), centre=Point(x=9), others=[])
    expect_bytes(shape, OLD, "01 01 09 00000000")
    expect_bytes(shape, COMPACT, "0100 01 0900 01 00")


@message(newest=0, flexible_from=0)
class Tagged(Message):
    number: Int32 = field(tag=0, default=-1)
    texts: list[str] = field(tag=1, default=[])
    name: str | None = field(tag=2, default=None)
    # Absent is None; there is no null on the wire.
    point: Point | None = field(tag=3, default=None)
    # Absent is a struct of zeros, and null is something else.
    nullable_point: Point | None = field(tag=200, nullable_since=0)


ABSENT = Point(x=0)


def test_tagged_fields_with_their_defaults_are_not_written() -> None:
    expect_bytes(Tagged(nullable_point=ABSENT), 0, "00")


def test_a_tagged_field_is_its_number_its_size_and_its_value() -> None:
    expect_bytes(Tagged(number=5, nullable_point=ABSENT), 0, "01 00 04 00000005")
    # Two texts: a count of 2 + 1, then each behind its length + 1; four bytes in all.
    expect_bytes(Tagged(texts=["a", ""], nullable_point=ABSENT), 0, "01 01 04 03 0261 01")
    expect_bytes(Tagged(name="n", nullable_point=ABSENT), 0, "01 02 02 026e")


def test_a_tagged_struct_has_a_tag_buffer_of_its_own() -> None:
    # y is tag 0 inside the point: 1 tag, number 0, size 1, value 7.
    expect_bytes(Tagged(point=Point(x=1, y=7), nullable_point=ABSENT), 0, "01 03 05 01 01 00 01 07")


def test_a_tagged_struct_is_null_by_a_zero_and_there_by_a_one() -> None:
    # 200 as a varint is c8 01.
    expect_bytes(Tagged(nullable_point=None), 0, "01 c801 01 00")
    expect_bytes(Tagged(nullable_point=Point(x=4)), 0, "01 c801 03 01 04 00")


def test_unknown_tags_are_kept_and_written_in_order_with_the_known() -> None:
    tagged = Tagged(number=5, name="n", nullable_point=ABSENT)
    tagged.unknown_tags = [(1_000, b"\xaa"), (2**31 - 1, b"")]
    # 1000 is 7·128 + 104: e8 07. The largest int32 is ff ff ff ff 07.
    expect_bytes(tagged, 0, "04 00 04 00000005 02 02 026e e807 01 aa ffffffff07 00")


def test_an_unknown_tag_below_a_known_one_keeps_its_place() -> None:
    class Unused(Struct):
        x: Int8 = field(tag=5, default=0)

    @message(newest=0, flexible_from=0)
    class Gap(Message):
        inner: Unused

    gap = Gap(inner=Unused(x=1))
    gap.inner.unknown_tags = [(2, b"zz"), (7, b"")]
    expect_bytes(gap, 0, "03 02 02 7a7a 05 01 01 07 00 00")
