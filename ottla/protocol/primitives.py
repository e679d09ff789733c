"""The wire's own types: how an integer, a flag, an id, a text or a run of bytes is laid out.

A message's annotations use the names below (`Int32`, `Uuid`, `str`, `bytes`, `Records`, …); to a
type checker they are plain Python types.
"""

from collections.abc import Callable
from typing import Annotated, NamedTuple, Protocol

from ottla.protocol.varint import (
    Buffer,
    read_uvarint,
    read_varint,
    read_varlong,
    write_uvarint,
    write_varint,
    write_varlong,
)


class Fixed(NamedTuple):
    """A value of always the same size; `code` is its letter in the `struct` module."""

    name: str
    code: str
    size: int
    zero: object


class Varying(NamedTuple):
    """An integer that takes as many bytes as it needs, seven bits in each."""

    name: str
    read: Callable[[Buffer, int], tuple[int, int]]
    write: Callable[[int], bytes]
    zero: object = 0


class Sized(NamedTuple):
    """Bytes behind their length: int16 for text, int32 for the rest, a varint when compact."""

    name: str
    length_code: str
    zero: object


BOOLEAN = Fixed("boolean", "?", 1, False)
STRING = Sized("string", "h", "")
BYTES = Sized("bytes", "i", b"")
RECORDS = Sized("records", "i", b"")
VARINT = Varying("varint", read_varint, write_varint)
VARLONG = Varying("varlong", read_varlong, write_varlong)
UNSIGNED_VARINT = Varying("unsigned varint", read_uvarint, write_uvarint)

ZERO_UUID = bytes(16)

# In every form: Kafka refuses a longer one even where its length is a varint.
LONGEST_STRING = 0x7FFF

Int8 = Annotated[int, Fixed("int8", "b", 1, 0)]
Int16 = Annotated[int, Fixed("int16", "h", 2, 0)]
Int32 = Annotated[int, Fixed("int32", "i", 4, 0)]
Int64 = Annotated[int, Fixed("int64", "q", 8, 0)]
UInt16 = Annotated[int, Fixed("uint16", "H", 2, 0)]
UInt32 = Annotated[int, Fixed("uint32", "I", 4, 0)]
Float64 = Annotated[float, Fixed("float64", "d", 8, 0.0)]
Uuid = Annotated[bytes, Fixed("uuid", "16s", 16, ZERO_UUID)]
VarInt = Annotated[int, VARINT]
VarLong = Annotated[int, VARLONG]
UnsignedVarInt = Annotated[int, UNSIGNED_VARINT]


class RecordsElsewhere(Protocol):
    """Records that need not be in memory to be sent: their writer passes them on as a piece."""

    @property
    def size_bytes(self) -> int: ...

    def __len__(self) -> int:
        """The same: pieces are counted as bytes are."""


# A view where it was read, so that a megabyte of batches is not copied once more.
Records = Annotated[bytes | memoryview | RecordsElsewhere, RECORDS]
