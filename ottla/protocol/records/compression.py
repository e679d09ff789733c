"""The only door to the compression libraries.

Whatever is decompressed has a limit, and no more than about that is ever allocated: what a frame
says of its own size is only believed downwards.
"""

from __future__ import annotations

import zlib
from enum import IntEnum
from functools import partial
from struct import Struct

import cramjam

from ottla.protocol.records.lz4_frame import read_lz4_frame, write_lz4_frame
from ottla.protocol.records.refusals import corrupt, invalid
from ottla.protocol.varint import Buffer

_GZIP_MAGIC = b"\x1f\x8b"
# What is left of a piece is copied when a member ends in it, so many tiny members need small ones.
_GZIP_PIECE_BYTES = 16 * 1024

XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = XERIAL_MAGIC + b"\0\0\0\1\0\0\0\1"  # version 1, readable by version 1
_XERIAL_BLOCK_BYTES = 32 * 1024
_INT32 = Struct(">i")

_ZSTD_MAGIC = 0xFD2FB528
_ZSTD_SKIPPABLE = 0x184D2A50
_ZSTD_BLOCK_BYTES = 128 * 1024  # no block regenerates more, by the format
_ZSTD_DEFAULT_LEVEL = 3


class Codec(IntEnum):
    """The compression codec, bits 0-2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: Codec, data: Buffer, *, magic: int = 2, level: int | None = None) -> bytes:
    match codec:
        case Codec.GZIP:
            # Without a file object zlib writes no time: equal input gives equal bytes.
            member = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, 31)
            return member.compress(data) + member.flush()
        case Codec.SNAPPY:
            return _write_xerial(data)
        case Codec.LZ4:
            return write_lz4_frame(
                data,
                compress_block=partial(_compress_lz4_block, level=level),
                wrong_header_checksum=magic == 0,
            )
        case Codec.ZSTD:
            return bytes(
                cramjam.zstd.compress(data, _ZSTD_DEFAULT_LEVEL if level is None else level)
            )
        case _:
            return bytes(data)


def decompress(codec: Codec, data: Buffer, *, limit: int, magic: int = 2) -> bytes:
    """The bytes that were compressed; refused when they are more than `limit`."""
    view = memoryview(data)
    reading = f"{codec.name.lower()} data"
    try:
        match codec:
            case Codec.GZIP:
                return _read_gzip(view, limit)
            case Codec.SNAPPY:
                return _read_snappy(view, limit)
            case Codec.LZ4:
                return read_lz4_frame(
                    view,
                    decompress_block=_decompress_lz4_block,
                    limit=limit,
                    any_header_checksum=magic == 0,
                )
            case Codec.ZSTD:
                return _read_zstd(view, limit)
            case _:
                return _bounded(bytes(view), limit)
    except OverflowError as cause:
        raise invalid(f"more than {limit} bytes when decompressed", reading=reading) from cause
    except (zlib.error, cramjam.DecompressionError, ValueError, IndexError) as cause:
        raise corrupt(str(cause), reading=reading) from cause


def _bounded(data: bytes, limit: int) -> bytes:
    if len(data) > limit:
        raise OverflowError
    return data


def _read_gzip(view: memoryview, limit: int) -> bytes:
    out = bytearray()
    pos = 0
    # Like Java, take a further member if there is one and ignore anything else behind the last.
    while not pos or view[pos : pos + 2] == _GZIP_MAGIC:
        member = zlib.decompressobj(31)
        while not member.eof:
            piece = view[pos : pos + _GZIP_PIECE_BYTES]
            if not piece:
                raise ValueError("the gzip member is cut off")
            # One byte more than allowed tells "just full" from "too much"; 0 would mean "no limit".
            out += member.decompress(piece, limit - len(out) + 1)
            if len(out) > limit:
                raise OverflowError
            pos += len(piece) - len(member.unused_data)
    return bytes(out)


def _read_snappy(view: memoryview, limit: int) -> bytes:
    if view[:8] != XERIAL_MAGIC:
        return bytes(_read_snappy_block(view, limit))
    out = bytearray()
    pos = 0
    while pos < len(view):
        if view[pos : pos + 8] == XERIAL_MAGIC:  # concatenated streams are legal
            pos += len(_XERIAL_HEADER)
            if pos > len(view):
                raise ValueError("the snappy header is cut off")
            continue
        if pos + 4 > len(view):
            raise ValueError("the length of a snappy block is cut off")
        (length,) = _INT32.unpack_from(view, pos)
        pos += 4
        if not 0 <= length <= len(view) - pos:
            raise ValueError(f"a snappy block of {length} bytes in {len(view) - pos}")
        out += _read_snappy_block(view[pos : pos + length], limit - len(out))
        pos += length
    return bytes(out)


def _read_snappy_block(block: memoryview, limit: int) -> bytearray:
    if not block:
        raise ValueError("an empty snappy block")
    size = cramjam.snappy.decompress_raw_len(block)
    if size > limit:
        raise OverflowError
    out = bytearray(size)
    if size:
        cramjam.snappy.decompress_raw_into(block, out)
    return out


def _write_xerial(data: Buffer) -> bytes:
    view = memoryview(data)
    out = [_XERIAL_HEADER]
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        out.append(_INT32.pack(len(block)))
        out.append(block)
    return b"".join(out)


def _compress_lz4_block(plain: memoryview, level: int | None) -> bytes:
    if level is None:
        return bytes(cramjam.lz4.compress_block(plain, store_size=False))
    return bytes(
        cramjam.lz4.compress_block(
            plain, store_size=False, mode="high_compression", compression=level
        )
    )


def _decompress_lz4_block(block: memoryview, block_limit: int) -> memoryview:
    # The format cannot grow a byte beyond 255, so a small block never costs its frame's maximum.
    out = bytearray(min(block_limit, 255 * len(block)))
    size = cramjam.lz4.decompress_block_into(block, out, output_len=len(out))
    return memoryview(out)[:size]


def _read_zstd(view: memoryview, limit: int) -> bytes:
    # The library cannot stream up to a limit, but stops when its output is full. How full it can
    # get, the block headers tell: nothing is decompressed and no content size believed for it.
    bound = _zstd_bound(view, limit)
    out = bytearray(min(bound, limit) + 1)
    try:
        size = cramjam.zstd.decompress_into(view, out)
    except cramjam.DecompressionError as cause:
        if bound > limit:
            raise OverflowError from cause
        raise
    if size > limit:
        raise OverflowError
    return bytes(memoryview(out)[:size])


def _zstd_bound(view: memoryview, limit: int) -> int:
    """At most so many bytes come out of these frames; counting stops once it is over the limit."""
    bound = 0
    pos = 0
    while pos < len(view) and bound <= limit:
        magic = int.from_bytes(view[pos : pos + 4], "little")
        if magic & 0xFFFF_FFF0 == _ZSTD_SKIPPABLE:
            pos += 8 + int.from_bytes(view[pos + 4 : pos + 8], "little")
            continue
        if magic != _ZSTD_MAGIC:
            raise ValueError("not a zstd frame")
        descriptor = view[pos + 4]
        single_segment = descriptor >> 5 & 1
        content_size_bytes = (single_segment, 2, 4, 8)[descriptor >> 6]
        pos += 5 + (1 - single_segment) + (0, 1, 2, 4)[descriptor & 3] + content_size_bytes
        last = 0
        while not last and bound <= limit:
            block = view[pos] | view[pos + 1] << 8 | view[pos + 2] << 16
            last, kind, size = block & 1, block >> 1 & 3, block >> 3
            # Kinds: 0 stored, 1 one byte repeated `size` times, 2 compressed to `size` bytes.
            bound += _ZSTD_BLOCK_BYTES if kind == 2 else size
            pos += 3 + (1 if kind == 1 else size)
        pos += 4 * (descriptor >> 2 & 1)  # the content's checksum
    return bound
