"""Every message in every version: what is written is read again, compiled and plain alike."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ottla.protocol.codec import decode_at, encode
from ottla.protocol.plain import PlainReader, PlainWriter
from tests.wire.strategies import messages
from tests.wire.subjects import ALL, Subject

# Some 700 subjects share the time: a few examples each, and a hundred times as many in a soak.
few_each = settings(
    max_examples=settings().max_examples // 5,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("subject", ALL, ids=str)
@few_each
@given(data=st.data())
def test_what_is_written_is_read_again(subject: Subject, data: st.DataObject) -> None:
    cls, version = subject
    message = data.draw(messages(subject))
    written = encode(message, version)
    assert PlainWriter(message, version).message() == written
    assert decode_at(cls, written, version) == (message, len(written))
    plain = PlainReader(cls, version, written)
    assert plain.message() == message
    assert plain.pos == len(written)
    # Where it stands in a larger buffer makes no difference, nor what stands around it.
    assert decode_at(cls, b"ab" + written + b"cd", version, 2) == (message, 2 + len(written))


def test_every_message_is_among_the_subjects() -> None:
    assert len(ALL) > 690
    names = {str(subject) for subject in ALL}
    assert len(names) == len(ALL)
    assert {"RequestHeader v2", "FetchRequest v0", "TransactionLogValue v1"} <= names
