"""The buffer of one client: lent, its own, as large as what really comes."""

from __future__ import annotations

from struct import pack

from ottla.network.receiving import LARGE_BUFFER, MOST_READ, SMALL_BUFFER, ReceiveBuffer
from tests.unit.network.echo import Wire, fill, frame


def test_the_buffer_grows_with_what_comes_and_not_with_what_is_announced() -> None:
    wire = Wire(most=2_000_000_000)
    wire.put(pack(">i", 1_500_000_000) + bytes(1000))
    assert len(wire.connection.buffer) == SMALL_BUFFER
    wire.put(bytes(200_000))
    assert len(wire.connection.buffer) <= 4 * 200_000


def test_a_large_frame_gets_the_buffer_it_needs_and_gives_it_back() -> None:
    wire = Wire()
    body = b"say:" + bytes(5_000_000)
    wire.put(frame(body))
    assert wire.answers() == [body]
    grown = len(wire.connection.buffer)
    assert grown >= len(body)
    assert wire.memory.used_bytes == grown - SMALL_BUFFER
    wire.connection.shrink()
    assert len(wire.connection.buffer) == 0
    assert wire.memory.used_bytes == 0


def test_a_buffer_in_use_is_not_shrunk() -> None:
    wire = Wire()
    wire.put(frame(bytes(100_000))[:50_000])
    grown = len(wire.connection.buffer)
    wire.connection.shrink()
    assert len(wire.connection.buffer) == grown


def test_what_is_left_in_a_lent_buffer_is_taken_along() -> None:
    wire, lent = Wire(), ReceiveBuffer.of(SMALL_BUFFER)
    wire.put(frame(b"say:a") + frame(b"say:bc")[:6], lent=lent)
    lent.view[:] = bytes(SMALL_BUFFER)  # the next client's
    wire.put(frame(b"say:bc")[6:], lent=lent)
    assert wire.answers() == [b"say:a", b"say:bc"]


def test_a_client_with_nothing_left_keeps_no_buffer() -> None:
    wire, lent = Wire(), ReceiveBuffer.of(SMALL_BUFFER)
    for number in range(3):
        wire.put(frame(b"say:%d" % number), lent=lent)
        assert wire.connection.buffer is lent.bytes
    assert wire.answers() == [b"say:0", b"say:1", b"say:2"]


def test_a_client_that_sends_much_is_read_in_larger_pieces() -> None:
    wire = Wire()
    while len(wire.connection.buffer) < LARGE_BUFFER:
        space = wire.connection.space()
        assert space is not None
        before, count = len(wire.connection.buffer), len(space)
        wire.put(frame(b"say:" + bytes(count - 8)))
        assert len(wire.connection.buffer) == min(before * 4, LARGE_BUFFER)


def test_a_buffer_that_was_given_back_for_others_does_not_grow() -> None:
    wire = Wire()
    wire.put(frame(b"say:1")[:5])
    wire.put(frame(b"say:1")[5:])
    wire.memory.wait("another", lambda: None)
    wire.put(frame(b"say:" + bytes(SMALL_BUFFER - 8)))
    space = wire.connection.space()
    assert space is not None
    assert len(space) == SMALL_BUFFER


def test_large_requests_in_a_row_are_read_two_at_a_time() -> None:
    wire, bodies = Wire(), [b"say:" + bytes(900_000)] * 8
    fill(wire, b"".join(map(frame, bodies)))
    assert wire.answers() == bodies
    assert 2 * 900_000 < len(wire.connection.buffer) < 2.2 * 900_000
    assert wire.sends < len(bodies), "two answers leave together"


def test_who_waits_for_an_answer_has_a_buffer_for_one_large_request() -> None:
    wire, body = Wire(), b"say:" + bytes(900_000)
    for _ in range(4):
        fill(wire, frame(body))
    assert wire.answers() == [body] * 4
    assert 900_000 < len(wire.connection.buffer) < 1.1 * 900_000


def test_huge_requests_are_read_one_by_one() -> None:
    wire, bodies = Wire(), [b"say:" + bytes(MOST_READ)] * 3
    fill(wire, b"".join(map(frame, bodies)))
    assert wire.answers() == bodies
    assert len(wire.connection.buffer) < 1.1 * MOST_READ


def test_a_closed_connection_keeps_no_buffer() -> None:
    """Whatever it owes may refer to it long after its client has gone."""
    wire = Wire()
    wire.put(frame(b"park:1") + frame(bytes(100_000))[:50_000])
    assert len(wire.connection.buffer) > 50_000
    wire.connection.close()
    assert (len(wire.connection.buffer), len(wire.connection.view)) == (0, 0)
