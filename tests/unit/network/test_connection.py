"""One client: frames in any cuts, answers in order, and limits on what it may take."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.network.connection import MOST_UNSENT_BYTES, MOST_WAITING, Connection
from ottla.network.pieces import FilePiece
from ottla.network.receiving import SMALL_BUFFER, ReceiveBuffer
from ottla.timing.timer import Timer
from ottla.timing.wheel import Deadline
from tests.unit.network.echo import Known, Wire, frame


@given(
    st.lists(st.binary(max_size=60_000), min_size=1, max_size=8),
    st.lists(st.integers(1, 50_000), max_size=20),
)
def test_frames_are_served_however_they_are_cut(bodies: list[bytes], cuts: list[int]) -> None:
    wire = Wire()
    bodies = [b"say:" + body for body in bodies]
    data = b"".join(map(frame, bodies))
    for cut in cuts:
        wire.put(data[:cut])
        data = data[cut:]
    wire.put(data)
    assert wire.answers() == bodies
    assert wire.connection.requests == len(bodies)


def test_the_answers_of_one_read_leave_together() -> None:
    wire = Wire()
    wire.put(frame(b"say:a") + frame(b"say:b") + frame(b"say:c"))
    assert (wire.sends, wire.answers()) == (1, [b"say:a", b"say:b", b"say:c"])


def test_nothing_overtakes_a_request_that_blocks() -> None:
    wire = Wire()
    wire.put(frame(b"park:1") + frame(b"say:2") + frame(b"produce:3"))
    assert wire.service.served == [b"park:1"]
    assert wire.answers() == []
    wire.settle(0)
    assert wire.service.served == [b"park:1", b"say:2", b"produce:3"]
    assert wire.answers() == [b"park:1", b"say:2"]


def test_a_produce_overtakes_produces_but_its_answer_waits_for_theirs() -> None:
    wire = Wire()
    wire.put(frame(b"produce:1") + frame(b"produce:2") + frame(b"say:3") + frame(b"produce:4"))
    # What comes behind a request that may not overtake stays behind it, be it a produce.
    assert wire.service.served == [b"produce:1", b"produce:2"]
    wire.settle(1)
    assert wire.answers() == []
    wire.settle(0)
    assert wire.answers() == [b"produce:1", b"produce:2", b"say:3"]
    assert wire.service.served[-1] == b"produce:4"


def test_what_blocks_may_give_way_to_what_comes_behind_it() -> None:
    wire = Wire()
    keys: list[int] = []

    def give_way(key: int) -> None:
        keys.append(key)
        owed = wire.service.parked[-1]
        owed.pieces = [frame(owed.body)]
        wire.connection.settle()

    wire.connection.on_followed = give_way
    wire.put(frame(b"park:1"))
    wire.put(frame(b"say:2")[:5])
    assert (keys, wire.answers()) == ([], []), "half of a key says nothing"
    wire.put(frame(b"say:2")[5:])
    assert wire.answers() == [b"park:1", b"say:2"]
    pairs = [frame(b"park:%d" % number) + frame(b"say:%d" % number) for number in range(5_000)]
    wire.put(b"".join(pairs))
    assert len(wire.answers()) == 10_002, "however many do"
    assert set(keys) == {int.from_bytes(b"sa", "big")}


def test_what_blocks_need_not_give_way() -> None:
    wire = Wire()
    keys: list[int] = []
    wire.connection.on_followed = keys.append
    wire.put(frame(b"park:1") + frame(b"say:2"))
    assert (len(keys), wire.answers()) == (1, [])
    wire.settle(0)
    assert wire.answers() == [b"park:1", b"say:2"]


def test_requests_that_come_while_one_waits_are_kept() -> None:
    wire = Wire()
    wire.put(frame(b"park:1"))
    for number in range(100):
        wire.put(frame(b"say:%d" % number))
    wire.settle(0)
    assert wire.answers() == [b"park:1", *(b"say:%d" % number for number in range(100))]


def test_only_so_many_produces_wait_at_once() -> None:
    wire = Wire()
    wire.put(b"".join(frame(b"produce:%d" % n) for n in range(MOST_WAITING + 5)))
    assert len(wire.service.parked) == MOST_WAITING
    for number in range(MOST_WAITING):
        wire.settle(number)
    assert len(wire.service.parked) == MOST_WAITING + 5


def test_an_answer_of_no_pieces_is_none() -> None:
    wire = Wire()
    wire.put(frame(b"produce:1") + frame(b"produce:2"))
    wire.service.parked[0].pieces = []
    wire.settle(1)
    assert wire.answers() == [b"produce:2"]


def test_a_client_that_does_not_read_is_not_served() -> None:
    wire = Wire()
    wire.reads = False
    wire.put(frame(b"say:1"))
    assert not wire.connection.is_hungry
    wire.put(frame(b"say:2"))
    assert wire.service.served == [b"say:1"]
    wire.reads = True
    wire.connection.send()
    wire.tick.end()
    assert wire.answers() == [b"say:1", b"say:2"]
    assert wire.connection.is_hungry


@pytest.mark.parametrize("kind", [b"say", b"park"])
def test_answers_of_many_bytes_are_read_before_more_are_made(kind: bytes) -> None:
    """Small requests for large answers, all in one read; the first is answered late, or not."""
    wire = Wire()
    answer, unsent = frame(bytes(600_000)), []
    serve, send = wire.service.serve, wire.connection.send

    def serve_much(connection: Connection, start: int, end: int) -> bool:
        if wire.service.served or kind == b"say":
            wire.service.served.append(bytes(connection.view[start:end]))
            connection.answer([answer])
            return True
        return serve(connection, start, end)

    def watch_and_send() -> None:
        unsent.append(sum(map(len, wire.connection.outgoing)))
        send()

    wire.service.serve = serve_much  # type: ignore[method-assign]
    wire.connection.send = watch_and_send
    wire.put(frame(kind + b":") + frame(b"say:") * 40)
    if kind == b"park":
        wire.service.parked[0].pieces = [answer * 2]
        wire.connection.settle()
        wire.tick.end()
    assert len(wire.service.served) == 41
    assert len(wire.answers()) >= 41
    assert max(unsent) <= MOST_UNSENT_BYTES + len(answer)


@pytest.mark.parametrize("is_last", [True, False])
@pytest.mark.parametrize("is_served", [True, False])
def test_a_request_may_close_its_connection(*, is_last: bool, is_served: bool) -> None:
    """The read that it came with was full, or there is more behind it."""
    wire = Wire()
    serve = wire.service.serve

    def serve_and_close(connection: Connection, start: int, end: int) -> bool:
        serve(connection, start, end)
        connection.close()
        return is_served

    wire.service.serve = serve_and_close  # type: ignore[method-assign]
    body = b"say:" + bytes(SMALL_BUFFER - 8)
    wire.put(frame(body) if is_last else frame(b"say:1") + frame(body)[:-6])
    assert len(wire.service.served) == 1
    assert len(wire.connection.buffer) == 0
    assert not wire.memory.used_bytes


@pytest.mark.parametrize("size", [-1, -(2**31), 10_000_001, 2**31 - 1])
def test_a_size_that_cannot_be_closes_the_connection(size: int) -> None:
    wire = Wire()
    wire.put(frame(b"say:1") + pack(">i", size) + b"garbage")
    assert wire.connection.is_closed
    assert wire.shut == 1


@pytest.mark.parametrize("body", [b"bad:", b"bug:"])
def test_a_request_that_fails_closes_only_its_connection(body: bytes) -> None:
    wire = Wire()
    wire.put(frame(body) + frame(b"say:2"))
    assert wire.connection.is_closed
    assert wire.service.served == [body]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (
            pack(">i", -5),
            "here:1 sent a bad request: INVALID_REQUEST: frame, field size, byte 0: "
            "the size -5 is not between 0 and 10000000; closing",
        ),
        (
            frame(b"bad:"),
            "here:1 sent a bad request: INVALID_REQUEST: test: no such thing; closing",
        ),
    ],
)
def test_an_operator_reads_one_line_of_who_was_cut_off_and_why(
    data: bytes, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    Wire().put(data)
    assert [(each.levelname, each.message) for each in caplog.records] == [("WARNING", line)]


@given(
    st.lists(st.sampled_from([b"say:1", b"say:2", b"park:", b"produce:"]), max_size=8),
    st.lists(st.integers(1, 20), max_size=20),
)
def test_with_a_shortcut_all_is_as_without(bodies: list[bytes], cuts: list[int]) -> None:
    plain, quick = Wire(), Wire()
    quick.connection.shortcut = known = Known(quick.service, b"say:1")
    for wire in (plain, quick):
        lent, data = ReceiveBuffer.of(SMALL_BUFFER), b"".join(map(frame, bodies))
        for cut in (*cuts, len(data)):
            wire.put(data[:cut], lent)
            data = data[cut:]
        number = 0
        while number < len(wire.service.parked):
            wire.settle(number)
            number += 1
    assert quick.service.served == plain.service.served == bodies
    assert quick.answers() == plain.answers() == bodies
    assert quick.connection.requests == len(bodies)
    assert known.served <= bodies.count(b"say:1")


def test_a_shortcut_serves_what_it_knows() -> None:
    wire, lent = Wire(), ReceiveBuffer.of(SMALL_BUFFER)
    wire.connection.shortcut = known = Known(wire.service, b"say:1")
    for body in (b"say:1", b"say:2", b"say:1"):
        wire.put(frame(body), lent)
    assert (known.served, wire.answers()) == (2, [b"say:1", b"say:2", b"say:1"])


@pytest.mark.parametrize("body", [b"bad:", b"bug:"])
def test_a_shortcut_that_fails_closes_only_its_connection(body: bytes) -> None:
    wire, lent = Wire(), ReceiveBuffer.of(SMALL_BUFFER)
    wire.connection.shortcut = Known(wire.service, body)
    wire.put(frame(body), lent)
    assert (wire.connection.is_closed, wire.shut) == (True, 1)


@given(st.binary(max_size=3000))
def test_garbage_is_served_or_closes_the_connection_and_nothing_else(data: bytes) -> None:
    wire = Wire(most=1000)
    wire.put(data)
    if wire.connection.is_closed:
        assert wire.memory.used_bytes == 0
    else:
        assert wire.memory.used_bytes >= len(wire.connection.buffer) - SMALL_BUFFER


class PinnedFile:
    def __init__(self) -> None:
        self.pins = 0

    def pin(self) -> int:
        self.pins += 1
        return -1

    def unpin(self) -> None:
        self.pins -= 1

    def read(self, position: int, length: int) -> bytes:
        return bytes(length)


def test_a_closed_connection_lets_go_of_all_it_had() -> None:
    wire, file, closed = Wire(), PinnedFile(), []
    wire.reads = False
    wire.connection.on_closed.append(lambda: closed.append(True))
    wire.put(frame(b"park:1"))
    wire.connection.answer([FilePiece(file, 0, 10)])
    wire.connection.close()
    wire.connection.close()
    assert (file.pins, closed, wire.shut) == (0, [True], 1)
    wire.settle(0)  # too late, and no harm
    assert wire.answers() == []


def test_an_answer_to_a_closed_connection_is_not_sent() -> None:
    wire = Wire()
    wire.tick.begin()
    wire.connection.answer([b"late"])
    wire.connection.close()
    wire.tick.end()
    assert (wire.sends, bytes(wire.out)) == (0, b"")


class Pauses:
    """A timer in a test's hand."""

    def __init__(self) -> None:
        self.deadlines: list[Deadline] = []

    def call_after(self, delay_ms: int, callback: Callable[[], object]) -> Deadline:
        self.deadlines.append(Deadline(delay_ms, callback))
        return self.deadlines[-1]


def muted(wire: Wire, *durations_ms: int) -> list[Deadline]:
    pauses = Pauses()
    for duration_ms in durations_ms:
        wire.connection.mute(cast("Timer", pauses), duration_ms)
    return pauses.deadlines


def is_over(wire: Wire, deadline: Deadline) -> None:
    deadline.callback()
    wire.tick.end()


def test_of_a_muted_client_nothing_is_served_or_read() -> None:
    wire = Wire()
    changes: list[bool] = []
    wire.connection.watch = lambda: changes.append(wire.connection.is_hungry)
    (deadline,) = muted(wire, 100)
    wire.put(frame(b"say:1"))  # it was on its way
    assert (wire.service.served, wire.answers()) == ([], [])
    is_over(wire, deadline)
    assert wire.answers() == [b"say:1"]
    assert changes == [False, True]


def test_a_client_muted_by_an_answer_is_not_served_by_it() -> None:
    wire = Wire()
    wire.put(frame(b"park:1") + frame(b"say:2"))
    (deadline,) = muted(wire, 100)
    wire.settle(0)
    assert wire.answers() == [b"park:1"]
    is_over(wire, deadline)
    assert wire.answers() == [b"park:1", b"say:2"]


def test_who_waits_for_an_answer_when_it_is_heard_again_goes_on_waiting() -> None:
    wire = Wire()
    wire.put(frame(b"park:1") + frame(b"say:2"))
    (deadline,) = muted(wire, 100)
    is_over(wire, deadline)
    assert wire.service.served == [b"park:1"]
    wire.settle(0)
    assert wire.answers() == [b"park:1", b"say:2"]


@pytest.mark.parametrize("durations_ms", [(100, 300), (300, 100)])
def test_of_two_pauses_the_longer_one_counts(durations_ms: tuple[int, int]) -> None:
    wire = Wire()
    deadlines = muted(wire, *durations_ms)
    wire.put(frame(b"say:1"))
    is_over(wire, max(deadlines, key=lambda each: each.due_ms))
    assert wire.answers() == [b"say:1"]


def test_a_closed_connection_is_not_muted() -> None:
    wire = Wire()
    wire.connection.close()
    assert muted(wire, 100) == []
