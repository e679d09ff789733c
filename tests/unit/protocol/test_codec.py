"""What the codec refuses, what it drops silently, and what it leaves alone."""

import pytest

from ottla.protocol.codec import decode, decode_at, encode, encode_into
from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.primitives import Int16, Int32, Records
from ottla.protocol.schema import Message, Struct, field, message


class Partition(Struct):
    index: Int32
    epoch: Int32 = field(since=2, default=-1)  # not ignorable
    rack: str = field(since=2, default="", ignorable=True)


@message(key=99, oldest=1, newest=3, flexible_from=3)
class Report(Message):
    error_code: Int16
    partitions: list[Partition] = field(default=[])
    note: str | None = field(since=2, until=2, default=None)
    batch: Records | None = field(since=3, default=None)


@pytest.mark.parametrize("version", [-1, 0, 4])
def test_a_version_that_is_not_declared_is_refused(version: int) -> None:
    wanted = f"UNSUPPORTED_VERSION: Report v{version}: the version is not one of 1 to 3"
    with pytest.raises(ProtocolError) as reading:
        decode(Report, bytes(20), version)
    with pytest.raises(ProtocolError) as writing:
        encode(Report(error_code=0), version)
    assert str(reading.value) == str(writing.value) == wanted
    assert reading.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_a_value_that_an_old_version_cannot_carry_is_refused_with_its_path() -> None:
    report = Report(error_code=0, partitions=[Partition(index=0), Partition(index=1, epoch=7)])
    assert encode(report, 2)
    with pytest.raises(ProtocolError) as refused:
        encode(report, 1)
    assert refused.value.path == "partitions[1].epoch"
    assert str(refused.value) == (
        "INVALID_REQUEST: Report v1, field partitions[1].epoch: this version has no place for 7"
    )


def test_a_value_that_a_new_version_has_given_up_is_refused_too() -> None:
    with pytest.raises(ProtocolError, match="Report v3, field note: this version has no place for"):
        encode(Report(error_code=0, note="gone"), 3)


def test_an_ignorable_value_is_dropped_where_there_is_no_place_for_it() -> None:
    # Error 0, one partition of index 5; nothing of the rack.
    report = Report(error_code=0, partitions=[Partition(index=5, rack="r1")])
    assert encode(report, 1) == bytes.fromhex("0000 00000001 00000005")


def test_what_a_version_lacks_is_read_as_its_default() -> None:
    found = decode(Report, bytes.fromhex("0000 00000001 00000005"), 1)
    assert found == Report(error_code=0, partitions=[Partition(index=5)])
    assert (found.partitions[0].epoch, found.partitions[0].rack, found.note) == (-1, "", None)


def test_two_messages_read_from_the_same_bytes_share_no_list() -> None:
    data = bytes.fromhex("0000 00000000")
    first, second = decode(Report, data, 1), decode(Report, data, 1)
    first.partitions.append(Partition(index=0))
    assert second.partitions == []


class Point(Struct):
    x: Int16


@message(newest=1, flexible_from=0)
class Places(Message):
    tagged: Point | None = field(tag=0, nullable_since=0)  # absent, it is a struct of zeros
    new: Point = field(since=1)


def test_two_messages_read_from_the_same_bytes_share_no_struct() -> None:
    first, second = decode(Places, b"\0", 0), decode(Places, b"\0", 0)
    assert first == Places(tagged=Point(x=0), new=Point(x=0))
    assert first.tagged is not None
    first.tagged.x = first.new.x = 5
    assert second == decode(Places, b"\0", 0) == Places(tagged=Point(x=0), new=Point(x=0))


def test_a_message_ends_where_it_ends() -> None:
    data = bytes.fromhex("aaaa 0023 00000000 bbbb")
    assert decode_at(Report, data, 1, 2) == (Report(error_code=35), 8)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_can_be_read(kind: type[bytes] | type[bytearray] | type[memoryview]) -> None:
    assert decode(Report, kind(bytes.fromhex("0023 00000000")), 1) == Report(error_code=35)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_can_be_written(kind: type[bytes] | type[bytearray] | type[memoryview]) -> None:
    # Error 0, no partitions (0 + 1), three bytes (3 + 1), no tags.
    report = Report(error_code=0, batch=kind(b"abc"))  # type: ignore[arg-type]
    assert encode(report, 3) == bytes.fromhex("0000 01 04 616263 00")


def test_pieces_joined_are_the_whole() -> None:
    report = Report(error_code=1, partitions=[Partition(index=5, epoch=1, rack="r")], note="n")
    pieces: list[bytes] = []
    encode_into(pieces.append, report, 2)
    assert b"".join(pieces) == encode(report, 2)


@pytest.mark.parametrize("wrong", ["text", 5, [1, 2]])
def test_what_is_no_bytes_is_refused_with_its_path(wrong: object) -> None:
    report = Report(error_code=0, batch=wrong)  # type: ignore[arg-type]
    with pytest.raises(ProtocolError, match=r"Report v3, field batch: records cannot hold"):
        encode(report, 3)


def test_a_refused_message_can_be_corrected_and_written() -> None:
    report = Report(error_code=70_000)
    with pytest.raises(ProtocolError, match="field error_code: int16 cannot hold 70000"):
        encode(report, 1)
    report.error_code = 7
    assert encode(report, 1) == bytes.fromhex("0007 00000000")
