"""The HTTP port over real sockets on loopback: what it answers, refuses and cuts off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from ottla.network.http import (
    MOST_BODY_BYTES,
    MOST_CONNECTIONS,
    MOST_HEAD_BYTES,
    Answer,
    BadRequest,
    HttpServer,
    parse_head,
)

LARGE = b"x" * 5_000_000


def echo(query: dict[str, str]) -> Answer:
    return 200, "text/plain", repr(query).encode()


def fail(query: dict[str, str]) -> Answer:
    raise AssertionError("our bug")


def torn() -> Iterator[bytes]:
    yield b"a"
    raise AssertionError("our bug")


def served(
    test: Callable[[HttpServer], Coroutine[Any, Any, None]],
) -> Callable[[], None]:
    """Runs the test with a server, which is closed after it."""

    def wrapped() -> None:
        asyncio.run(run())

    async def run() -> None:
        server = HttpServer(
            get={
                "/echo": echo,
                "/large": lambda _: (200, "text/plain", LARGE),
                "/fail": fail,
                "/pieces": lambda _: (200, "text/plain", iter([b"a", b"", b"b"])),
                "/torn": lambda _: (200, "text/plain", torn()),
            },
            post={"/echo": echo, "/fault": lambda _: (202, "application/json", b"{}")},
        )
        await server.start()
        try:
            await test(server)
        finally:
            await server.close()

    return wrapped


async def ask(server: HttpServer, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body. The server closes, so the answer ends where the bytes end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    assert int(headers["Content-Length"]) == len(body)
    assert headers["Connection"] == "close"
    return int(first.split(" ")[1]), headers, body


@served
async def test_a_route_gets_the_query_and_answers(server: HttpServer) -> None:
    request = b"GET /echo?topic=a%20b&topic=c+d&empty= HTTP/1.1\r\nHost: x\r\n\r\n"
    status, headers, body = await ask(server, request)
    assert (status, headers["Content-Type"]) == (200, "text/plain")
    assert body == b"{'topic': 'c d', 'empty': ''}"


@served
async def test_a_request_may_come_byte_by_byte(server: HttpServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for byte in b"POST /fault HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc":
        writer.write(bytes([byte]))
        await writer.drain()
    assert (await reader.readline()) == b"HTTP/1.1 202 Accepted\r\n"
    writer.close()


@served
async def test_an_answer_waits_until_the_body_is_read(server: HttpServer) -> None:
    head = f"POST /echo?a=1 HTTP/1.1\r\nContent-Length: {MOST_BODY_BYTES}\r\n\r\n".encode()
    status, _, body = await ask(server, head + b"b" * MOST_BODY_BYTES)
    assert (status, body) == (200, b"{'a': '1'}")


@served
async def test_a_large_answer_arrives_whole(server: HttpServer) -> None:
    status, _, body = await ask(server, b"GET /large HTTP/1.0\r\n\r\n")
    assert status == 200
    assert body == LARGE


@served
async def test_what_is_not_there_is_answered_with_what_is(server: HttpServer) -> None:
    status, _, body = await ask(server, b"GET /nowhere HTTP/1.1\r\n\r\n")
    assert status == 404
    assert body == b"there is no /nowhere; there are: /echo /fail /fault /large /pieces /torn\n"


@served
async def test_a_wrong_method_is_answered_with_the_right_ones(server: HttpServer) -> None:
    for path, method, allow in (
        ("/echo", "DELETE", "GET, POST"),
        ("/large", "POST", "GET"),
        ("/fault", "GET", "POST"),
    ):
        request = f"{method} {path} HTTP/1.1\r\n\r\n".encode()
        status, headers, _ = await ask(server, request)
        assert (status, headers["Allow"]) == (405, allow)


@served
async def test_a_route_that_raises_is_reported_and_the_server_goes_on(server: HttpServer) -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: reported.append(context["exception"])
    )
    status, _, _ = await ask(server, b"GET /fail HTTP/1.1\r\n\r\n")
    assert status == 500
    assert [str(error) for error in reported] == ["our bug"]
    status, _, _ = await ask(server, b"GET /echo HTTP/1.1\r\n\r\n")
    assert status == 200


@served
async def test_endless_headers_are_cut_off(server: HttpServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"GET /echo HTTP/1.1\r\nX: " + b"x" * MOST_HEAD_BYTES)
    assert (await reader.readline()).split()[1] == b"431"
    writer.close()


@served
async def test_no_http_at_all_is_a_bad_request(server: HttpServer) -> None:
    status, _, _ = await ask(server, b"\x00\x00\x00\x10\x00\x12\x00\x03\r\n\r\n")
    assert status == 400


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"", 400),
        (b"GET", 400),
        (b"GET / HTTP/2", 400),
        (b"GET  / HTTP/1.1", 400),
        (b"GET http://x/ HTTP/1.1", 400),
        (b"GET / HTTP/1.1\r\nnocolon", 400),
        (b"GET / HTTP/1.1\r\n: nameless", 400),
        (b"GET / HTTP/1.1\r\nA: b\r\n folded: c", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: \xb2", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1000000", 413),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5_000, 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked", 411),
    ],
)
def test_a_malformed_head_is_refused(head: bytes, status: int) -> None:
    with pytest.raises(BadRequest) as refusal:
        parse_head(head)
    assert refusal.value.status == status


def test_a_path_is_decoded() -> None:
    request = parse_head(b"GET /a%2Fb?x=%C3%BC HTTP/1.1\r\ncontent-LENGTH:  7 ")
    assert (request.path, request.query, request.body_bytes) == ("/a/b", {"x": "ü"}, 7)


@served
async def test_there_are_never_more_than_a_hundred_connections(server: HttpServer) -> None:
    connections = [
        await asyncio.open_connection("127.0.0.1", server.port) for _ in range(MOST_CONNECTIONS)
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    assert await ended(reader)
    assert len(server.open) == MOST_CONNECTIONS
    connections[0][1].write(b"GET /echo HTTP/1.1\r\n\r\n")
    assert (await connections[0][0].readline()) == b"HTTP/1.1 200 OK\r\n"
    for _, open_writer in [*connections, (reader, writer)]:
        open_writer.close()


def test_who_is_slow_is_cut_off() -> None:
    async def run() -> None:
        server = HttpServer(get={"/echo": echo}, most_seconds=0.01)
        await server.start()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /echo HTTP/1.1\r\n")
        assert await ended(reader)
        assert server.open == {}
        writer.close()
        await server.close()

    asyncio.run(run())


@served
async def test_closing_cuts_off_whoever_is_connected(server: HttpServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"GET /echo HTTP/1.1\r\n")
    await ask(server, b"GET /echo HTTP/1.1\r\n\r\n")  # who came before is accepted by now
    assert len(server.open) == 1
    await server.close()
    assert await ended(reader)
    writer.close()


async def ended(reader: asyncio.StreamReader) -> bool:
    """True once the other side is gone, with a reset or without."""
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True


@served
async def test_an_answer_in_pieces_is_sent_when_it_is_whole(server: HttpServer) -> None:
    request = b"GET /pieces HTTP/1.1\r\n\r\n"
    assert (await ask(server, request + b"and more that says nothing"))[::2] == (200, b"ab")


@served
async def test_an_answer_that_fails_on_the_way_is_a_bug(server: HttpServer) -> None:
    found: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: found.append(context["exception"]))
    status, _, body = await ask(server, b"GET /torn HTTP/1.1\r\n\r\n")
    assert (status, body) == (500, b"this is a bug; the broker's log says more\n")
    assert [type(each) for each in found] == [AssertionError]
