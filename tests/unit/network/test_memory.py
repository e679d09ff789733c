"""Memory for large requests: who gets it, who waits for it, and that nobody waits for ever."""

from __future__ import annotations

from ottla.network.memory import RequestMemory
from ottla.network.receiving import SMALL_BUFFER
from tests.unit.network.echo import Wire, fill, frame


def test_with_memory_for_one_request_a_second_waits_in_the_socket() -> None:
    wire, bodies = Wire(memory=RequestMemory(1_000_000)), [b"say:" + bytes(900_000)] * 4
    fill(wire, b"".join(map(frame, bodies)))
    assert wire.answers() == bodies
    assert len(wire.connection.buffer) - SMALL_BUFFER <= wire.memory.used_bytes <= 1_000_000


def test_of_those_who_all_wait_for_memory_one_goes_on() -> None:
    """Both keep buffers of earlier requests; the next are larger, and neither can give back."""
    memory = RequestMemory(100_000)
    wires = [Wire(memory=memory) for _ in range(2)]
    small, large = b"say:" + bytes(50_000), b"say:" + bytes(90_000)
    for wire in wires:
        assert not wire.put(frame(small))
    left = [wire.put(frame(large)) for wire in wires]
    assert left[0]
    assert not left[1]
    assert not wires[0].put(left[0])
    assert [wire.answers() for wire in wires] == [[small, large]] * 2
    assert not memory.is_short


def test_who_alone_has_memory_gets_what_it_needs() -> None:
    wire = Wire(memory=RequestMemory(100_000))
    bodies = [b"say:" + bytes(size) for size in (50_000, 200_000)]
    for body in bodies:
        assert not wire.put(frame(body))
    assert wire.answers() == bodies


def test_who_closes_waits_for_no_memory() -> None:
    memory = RequestMemory(100_000)
    first, second = Wire(memory=memory), Wire(memory=memory)
    assert not first.put(frame(bytes(90_000))[:60_000])
    assert second.put(frame(bytes(90_000)))
    assert memory.is_short
    second.connection.close()
    assert not memory.is_short


def test_without_memory_there_is_no_space_until_some_comes_back() -> None:
    memory = RequestMemory(100_000)
    first, second = Wire(memory=memory), Wire(memory=memory)
    assert not first.put(frame(bytes(90_000))[:60_000])
    assert second.put(frame(bytes(90_000))[:60_000])
    told: list[bool] = []
    memory.wait(second.connection, lambda: told.append(True))
    first.connection.close()
    assert told == [True]
    assert memory.used_bytes == 0
    assert second.connection.space() is not None


def test_two_large_requests_do_not_wait_for_each_other() -> None:
    memory = RequestMemory(500_000)
    wires = [Wire(memory=memory), Wire(memory=memory)]
    bodies = [b"say:" + bytes(300_000), b"say:" + bytes(300_000)]
    left = [frame(body) for body in bodies]
    for _ in range(1000):
        for number, wire in enumerate(wires):
            left[number] = wire.put(left[number][:5_000]) + left[number][5_000:]
    assert [wire.answers() for wire in wires] == [[bodies[0]], [bodies[1]]]


def test_a_busy_client_gives_its_memory_back_when_others_want_it() -> None:
    memory = RequestMemory(500_000)
    busy, other = Wire(memory=memory), Wire(memory=memory)
    busy.put(frame(b"say:" + bytes(300_000)))
    assert other.put(frame(bytes(400_000)))
    busy.put(frame(b"say:a"))
    assert (memory.used_bytes, len(busy.connection.buffer)) == (0, 0)


def test_the_first_gets_its_memory_however_much_it_is() -> None:
    wire = Wire(memory=RequestMemory(1000))
    body = b"say:" + bytes(300_000)
    assert not wire.put(frame(body))
    assert wire.answers() == [body]
