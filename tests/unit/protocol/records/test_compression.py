"""Compression: the framing that Kafka expects, and bombs that must not go off."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from struct import pack

import cramjam
import pytest

from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.records.compression import Codec, compress, decompress

COMPRESSING = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
TEXT = b"The quick brown fox jumps over the lazy dog. " * 5000
MIB = 1024 * 1024


def refusal_of(codec: Codec, data: bytes, *, limit: int = MIB, magic: int = 2) -> ErrorCode:
    with pytest.raises(ProtocolError) as refusal:
        decompress(codec, data, limit=limit, magic=magic)
    return refusal.value.code


@pytest.mark.parametrize("size", [0, 1, 17, 32768, 65536, 65537, len(TEXT)])
@pytest.mark.parametrize("codec", list(Codec))
def test_what_was_compressed_comes_back(codec: Codec, size: int) -> None:
    data = TEXT[:size]
    assert decompress(codec, compress(codec, memoryview(data)), limit=size) == data


@pytest.mark.parametrize("codec", list(Codec))
def test_one_byte_more_than_the_limit_is_refused(codec: Codec) -> None:
    for size in (1, 1000, 65536, len(TEXT)):
        packed = compress(codec, TEXT[:size])
        assert refusal_of(codec, packed, limit=size - 1) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.ZSTD, Codec.LZ4])
def test_a_level_can_be_asked_for(codec: Codec) -> None:
    packed = compress(codec, TEXT, level=9)
    assert decompress(codec, packed, limit=len(TEXT)) == TEXT
    assert len(packed) <= len(compress(codec, TEXT, level=1))


def test_gzip_has_no_time_in_it_and_members_may_follow_each_other() -> None:
    packed = compress(Codec.GZIP, b"first ")
    assert packed[4:8] == bytes(4)
    both = packed + gzip.compress(b"second")
    assert decompress(Codec.GZIP, both, limit=12) == b"first second"
    assert decompress(Codec.GZIP, packed + b"\0\0", limit=12) == b"first "
    assert refusal_of(Codec.GZIP, both, limit=11) is ErrorCode.INVALID_RECORD


def test_snappy_is_framed_in_blocks_of_32_kib_as_java_does() -> None:
    packed = compress(Codec.SNAPPY, bytes(40_000))
    assert packed[:16] == b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
    first = int.from_bytes(packed[16:20], "big")
    assert cramjam.snappy.decompress_raw_len(packed[20 : 20 + first]) == 32768


def test_snappy_without_a_frame_and_frames_in_a_row_are_read() -> None:
    raw = bytes(cramjam.snappy.compress_raw(TEXT))
    assert decompress(Codec.SNAPPY, raw, limit=len(TEXT)) == TEXT
    twice = compress(Codec.SNAPPY, b"one ") + compress(Codec.SNAPPY, b"two")
    assert decompress(Codec.SNAPPY, twice, limit=7) == b"one two"


def test_lz4_has_the_header_that_kafka_writes() -> None:
    assert compress(Codec.LZ4, b"")[:7].hex() == "04224d18" + "6040" + "82"
    assert compress(Codec.LZ4, b"", magic=0)[:7].hex() == "04224d18" + "6040" + "1a"


def test_magic_0_reads_both_header_checksums_of_lz4_and_later_magics_only_the_right_one() -> None:
    right, wrong = compress(Codec.LZ4, TEXT), compress(Codec.LZ4, TEXT, magic=0)
    for packed in (right, wrong):
        assert decompress(Codec.LZ4, packed, limit=len(TEXT), magic=0) == TEXT
    assert refusal_of(Codec.LZ4, wrong) is ErrorCode.CORRUPT_MESSAGE


def test_our_lz4_frames_are_read_by_the_library() -> None:
    assert bytes(cramjam.lz4.decompress(compress(Codec.LZ4, TEXT))) == TEXT


def test_lz4_frames_with_sizes_and_checksums_are_read() -> None:
    # Independent blocks, block checksum, content size and content checksum; two blocks, one stored.
    block = bytes(cramjam.lz4.compress_block(b"a" * 100, store_size=False))
    header = b"\x7c\x40" + pack("<Q", 103)
    frame = b"\x04\x22\x4d\x18" + header + b"\0" + pack("<I", len(block)) + block + b"crc1"
    frame += pack("<I", 3 | 1 << 31) + b"end" + b"crc2" + pack("<I", 0) + b"crc3"
    # Magic 0, because the header's checksum is not the point here.
    assert decompress(Codec.LZ4, frame, limit=103, magic=0) == b"a" * 100 + b"end"


def test_lz4_blocks_that_depend_on_each_other_are_refused_as_by_java() -> None:
    packed = bytes(cramjam.lz4.compress(TEXT))
    assert not packed[4] & 0x20
    assert refusal_of(Codec.LZ4, packed) is ErrorCode.CORRUPT_MESSAGE


def test_several_zstd_frames_and_skippable_ones_are_read() -> None:
    skippable = pack("<II", 0x184D2A53, 3) + b"abc"
    packed = compress(Codec.ZSTD, TEXT) + skippable + compress(Codec.ZSTD, b"end", level=19)
    assert decompress(Codec.ZSTD, packed, limit=len(TEXT) + 3) == TEXT + b"end"


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_cut_off_end_is_corrupt(codec: Codec) -> None:
    packed = compress(codec, TEXT)
    for length in (1, 5, 10, len(packed) // 2, len(packed) - 1):
        assert refusal_of(codec, packed[:length]) is ErrorCode.CORRUPT_MESSAGE


def gzip_bomb() -> bytes:
    member = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(member.compress(bytes(MIB)) for _ in range(64)) + member.flush()


def bombs() -> list[tuple[Codec, bytes]]:
    snappy_block = b"\x80\x80\x80\x80\x04" + b"\0a" + b"\xfe\x01\x00" * 1000  # says 1 GiB
    lz4_block = bytes(cramjam.lz4.compress_block(bytes(4 * MIB), store_size=False))
    zstd_blocks = (b"\x02\x00\x10" + b"a") * 8192  # 8192 times 128 KiB of one byte
    return [
        (Codec.GZIP, gzip_bomb()),
        (Codec.SNAPPY, snappy_block),
        (Codec.SNAPPY, compress(Codec.SNAPPY, b"") + pack(">i", len(snappy_block)) + snappy_block),
        (
            Codec.LZ4,
            b"\x04\x22\x4d\x18\x60\x70\x73" + (pack("<I", len(lz4_block)) + lz4_block) * 9,
        ),
        (Codec.ZSTD, b"\x28\xb5\x2f\xfd\x00\x58" + zstd_blocks),
        (Codec.ZSTD, b"\x28\xb5\x2f\xfd\xc0" + pack("<QB", 3, 0x58) + zstd_blocks),  # says 3 bytes
    ]


def test_a_zstd_frame_that_says_it_is_huge_is_refused() -> None:
    frame = b"\x28\xb5\x2f\xfd\xe0" + pack("<Q", 1 << 60) + b"\x01\x00\x00"
    assert refusal_of(Codec.ZSTD, frame) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(("codec", "bomb"), bombs(), ids=range(len(bombs())))
def test_a_bomb_is_refused_before_it_takes_memory(codec: Codec, bomb: bytes) -> None:
    tracemalloc.start()
    try:
        code = refusal_of(codec, bomb, limit=MIB)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert code is ErrorCode.INVALID_RECORD
    assert peak_bytes < 10 * MIB  # the limit and one block of LZ4's largest size, each held twice
