"""Bytes that are no message are refused, with the place, by the compiled and the plain reader."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ottla.protocol.codec import decode_at, encode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.plain import PlainReader
from ottla.protocol.registry import request_type, response_type
from tests.wire.strategies import messages
from tests.wire.subjects import ALL, Subject

VECTORS = Path(__file__).parent / "vectors"

few_each = settings(
    max_examples=settings().max_examples // 5,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def refusal(subject: Subject, data: bytes) -> ProtocolError | None:
    """How the compiled reader refuses the bytes; None if it, and the plain one, read the same."""
    cls, version = subject
    plain = PlainReader(cls, version, data)
    try:
        message, end = decode_at(cls, data, version)
    except ProtocolError as error:
        refused = error
    else:
        again = plain.message()
        # A float that is no number is not equal to itself, but prints alike.
        assert again == message or repr(again) == repr(message)
        assert plain.pos == end
        return None
    with pytest.raises(ProtocolError) as explained:
        plain.message()
    assert str(explained.value) == str(refused)
    return refused


def expect_place(error: ProtocolError, subject: Subject, size: int) -> None:
    assert error.reading == str(subject)
    assert error.path
    assert error.offset is not None
    assert 0 <= error.offset <= size
    assert str(error).startswith(
        f"INVALID_REQUEST: {subject}, field {error.path}, byte {error.offset}: "
    )


@st.composite
def spoilt(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes with one place changed: a bit, a byte, some more or some fewer."""
    at = draw(st.integers(0, max(len(data) - 1, 0)))
    before, there, after = data[:at], data[at : at + 1], data[at + 1 :]
    bit = draw(st.integers(0, 7))
    flipped = bytes(byte ^ 1 << bit for byte in there)
    other = draw(st.sampled_from([b"", b"\0", b"\x7f", b"\x80", b"\xff", b"\xff" * 4, flipped]))
    return before + other + after


@pytest.mark.parametrize("subject", ALL, ids=str)
@few_each
@given(data=st.data())
def test_a_spoilt_message_is_refused_with_its_place_or_read_alike(
    subject: Subject, data: st.DataObject
) -> None:
    whole = encode(data.draw(messages(subject)), subject.version)
    bad = data.draw(spoilt(whole) | st.binary(max_size=40))
    error = refusal(subject, bad)
    if error is not None:
        expect_place(error, subject, len(bad))


def full_messages(*names: str) -> Iterator[tuple[Subject, bytes]]:
    """Kafka's own bytes with two of everything."""
    for file, types in (("requests", request_type), ("responses", response_type)):
        with gzip.open(VECTORS / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for case in map(json.loads, lines):
                if case["kind"] == "full" and case["api"] in names:
                    yield Subject(types(case["key"]), case["version"]), bytes.fromhex(case["hex"])


SAMPLE = [
    *full_messages("Heartbeat", "ApiVersions", "SaslAuthenticate", "InitProducerId"),
    *full_messages("Produce", "Metadata", "OffsetFetch", "DescribeClientQuotas", "Vote"),
]


@pytest.mark.parametrize(("subject", "whole"), SAMPLE, ids=[str(s) for s, _ in SAMPLE])
def test_a_message_cut_off_anywhere_is_refused(subject: Subject, whole: bytes) -> None:
    assert refusal(subject, whole) is None
    for size in range(0, len(whole), 1 + len(whole) // 150):
        error = refusal(subject, whole[:size])
        assert error is not None, f"the first {size} bytes are read as a whole message"
        expect_place(error, subject, size)


@pytest.mark.parametrize(("subject", "whole"), SAMPLE, ids=[str(s) for s, _ in SAMPLE])
def test_a_wrong_byte_anywhere_does_no_harm(subject: Subject, whole: bytes) -> None:
    for at in range(0, len(whole), 1 + len(whole) // 80):
        for change in (0x01, 0x80, 0xFF):
            bad = bytes([*whole[:at], whole[at] ^ change, *whole[at + 1 :]])
            error = refusal(subject, bad)
            if error is not None:
                expect_place(error, subject, len(bad))
