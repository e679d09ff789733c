"""Varints, computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.varint import (
    read_uvarint,
    read_varint,
    read_varlong,
    uvarint_size,
    varint_size,
    varlong_size,
    write_uvarint,
    write_varint,
    write_varlong,
)

UNSIGNED = [
    (0, "00"),
    (1, "01"),
    (127, "7f"),
    (128, "8001"),
    (300, "ac02"),
    (16383, "ff7f"),
    (16384, "808001"),
    (0xFFFF_FFFF, "ffffffff0f"),
]
ZIG_ZAG = [
    (0, "00"),
    (-1, "01"),
    (1, "02"),
    (-64, "7f"),
    (64, "8001"),
    (-65, "8101"),
    (8191, "fe7f"),
    (8192, "808001"),
    (2147483647, "feffffff0f"),
    (-2147483648, "ffffffff0f"),
]
ZIG_ZAG_LONG = [
    *ZIG_ZAG,
    (2147483648, "8080808010"),
    (9223372036854775807, "feffffffffffffffff01"),
    (-9223372036854775808, "ffffffffffffffffff01"),
]


@pytest.mark.parametrize(("value", "encoded"), UNSIGNED)
def test_unsigned_numbers_take_seven_bits_a_byte(value: int, encoded: str) -> None:
    assert write_uvarint(value).hex() == encoded
    assert read_uvarint(bytes.fromhex("ff" + encoded), 1) == (value, 1 + len(encoded) // 2)
    assert uvarint_size(value) == len(encoded) // 2


@pytest.mark.parametrize(("value", "encoded"), ZIG_ZAG)
def test_signed_numbers_are_zig_zagged(value: int, encoded: str) -> None:
    assert write_varint(value).hex() == encoded
    assert read_varint(memoryview(bytes.fromhex(encoded)), 0) == (value, len(encoded) // 2)
    assert varint_size(value) == len(encoded) // 2


@pytest.mark.parametrize(("value", "encoded"), ZIG_ZAG_LONG)
def test_long_numbers_take_up_to_ten_bytes(value: int, encoded: str) -> None:
    assert write_varlong(value).hex() == encoded
    assert read_varlong(bytearray.fromhex(encoded), 0) == (value, len(encoded) // 2)
    assert varlong_size(value) == len(encoded) // 2


@pytest.mark.parametrize("read", [read_uvarint, read_varint, read_varlong])
@pytest.mark.parametrize("encoded", ["", "80", "ffff", "808080"])
def test_a_cut_off_number_raises_index_error(read: object, encoded: str) -> None:
    assert callable(read)
    with pytest.raises(IndexError):
        read(bytes.fromhex(encoded), 0)


def test_a_number_that_is_too_long_raises_value_error() -> None:
    for read in (read_uvarint, read_varint):
        with pytest.raises(ValueError, match="more than 5 bytes"):
            read(b"\x80" * 5 + b"\0", 0)
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_varlong(b"\x80" * 10 + b"\0", 0)


def test_bits_beyond_the_type_are_dropped() -> None:
    assert read_uvarint(b"\xff\xff\xff\xff\x7f", 0) == (0xFFFF_FFFF, 5)
    assert read_varlong(b"\xff" * 9 + b"\x7f", 0) == (-(1 << 63), 10)


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(-(1 << 63), (1 << 63) - 1))
def test_every_number_comes_back(number: int, long: int) -> None:
    written = write_varint(number) + write_varlong(long)
    read, pos = read_varint(written, 0)
    assert (read, pos) == (number, varint_size(number))
    assert read_varlong(written, pos) == (long, len(written))
