"""LZ4's frame format as Kafka uses it, around the library's blocks.

Done by hand because Java refuses frames whose blocks depend on each other, which is what the
library writes, and because magic 0 wants a checksum that is wrong (KAFKA-3160).
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from ottla.protocol.varint import Buffer

_MAGIC = b"\x04\x22\x4d\x18"
_HEADER = b"\x60\x40"  # version 1, independent blocks, no checksums, no size; blocks of 64 KiB
_BLOCK_BYTES = 64 * 1024
_STORED = 0x8000_0000  # a block that did not shrink is kept as it is
_LENGTH = Struct("<I")

_PRIMES = (2654435761, 2246822519, 3266489917, 668265263, 374761393)


def write_lz4_frame(
    data: Buffer,
    *,
    compress_block: Callable[[memoryview], bytes],
    wrong_header_checksum: bool,
) -> bytes:
    view = memoryview(data)
    checksum = _header_checksum(_MAGIC + _HEADER if wrong_header_checksum else _HEADER)
    out = [_MAGIC, _HEADER, bytes([checksum])]
    for start in range(0, len(view), _BLOCK_BYTES):
        plain = view[start : start + _BLOCK_BYTES]
        packed = compress_block(plain)
        if len(packed) < len(plain):
            out += (_LENGTH.pack(len(packed)), packed)
        else:
            out += (_LENGTH.pack(len(plain) | _STORED), bytes(plain))
    out.append(_LENGTH.pack(0))
    return b"".join(out)


def read_lz4_frame(
    view: memoryview,
    *,
    decompress_block: Callable[[memoryview, int], Buffer],
    limit: int,
    any_header_checksum: bool,
) -> bytes:
    """The content of one frame. ValueError or IndexError if broken, OverflowError above the limit.

    Checksums of blocks and content are skipped: the batch's own checksum covers the same bytes.
    """
    if view[:4] != _MAGIC:
        raise ValueError("not an LZ4 frame")
    flags, block_bytes_code = view[4], view[5] >> 4 & 7
    if flags & 0xE3 != 0x60 or block_bytes_code < 4:
        # Version 1 with independent blocks and no dictionary is all that Java reads.
        raise ValueError(f"unsupported LZ4 frame, flags {flags:#04x}, block size {view[5]:#04x}")
    pos = 6 + (8 if flags & 0x08 else 0)
    if view[pos] != _header_checksum(bytes(view[4:pos])) and not any_header_checksum:
        raise ValueError("the LZ4 header's checksum is wrong")
    pos += 1
    block_limit = 1 << (8 + 2 * block_bytes_code)
    out = bytearray()
    while True:
        if pos + 4 > len(view):
            raise ValueError("the LZ4 frame has no end mark")
        (length,) = _LENGTH.unpack_from(view, pos)
        pos += 4
        if not length:
            return bytes(out)
        size = length & ~_STORED
        if size > min(block_limit, len(view) - pos):
            raise ValueError(f"an LZ4 block of {size} bytes")
        block = view[pos : pos + size]
        out += block if length & _STORED else decompress_block(block, block_limit)
        if len(out) > limit:
            raise OverflowError
        pos += size + (4 if flags & 0x10 else 0)


def _header_checksum(header: bytes) -> int:
    """The second byte of xxHash-32, seed 0; headers are shorter than its 16-byte stripes."""
    prime_1, prime_2, prime_3, prime_4, prime_5 = _PRIMES
    whole = len(header) // 4 * 4
    value = prime_5 + len(header)
    for start in range(0, whole, 4):
        value += int.from_bytes(header[start : start + 4], "little") * prime_3
        value = _rotate(value, 17) * prime_4
    for byte in header[whole:]:
        value = _rotate(value + byte * prime_5, 11) * prime_1
    value &= 0xFFFF_FFFF
    value = (value ^ value >> 15) * prime_2 & 0xFFFF_FFFF
    value = (value ^ value >> 13) * prime_3 & 0xFFFF_FFFF
    return (value ^ value >> 16) >> 8 & 0xFF


def _rotate(value: int, bits: int) -> int:
    value &= 0xFFFF_FFFF
    return (value << bits | value >> (32 - bits)) & 0xFFFF_FFFF
