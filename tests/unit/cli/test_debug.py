"""`ottla debug` against a broker's HTTP port, and against whatever else may be there."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from ottla.network.http import Answer, HttpServer, Route, json_answer
from ottla.simulation.loop import VirtualTimeLoop
from ottla.timing.purgatory import Purgatory
from ottla.timing.timer import Timer
from tests.unit.cli.commands import run, told


@contextmanager
def serving(routes: Mapping[str, Route]) -> Iterator[str]:
    """The address of a server on a thread, since a command blocks this one."""
    loop, server = asyncio.new_event_loop(), HttpServer(get=routes)
    loop.run_until_complete(server.start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def lines(table: str) -> list[str]:
    """With one space between words, however wide the columns are."""
    return [" ".join(line.split()) for line in table.splitlines() if line]


class Fetch:
    completed = False

    def try_complete(self) -> bool:
        return False

    def expire(self) -> None: ...


@pytest.fixture
def timers() -> Iterator[dict[str, object]]:
    """What a broker would say with two fetches parked."""
    loop = VirtualTimeLoop()
    timer = Timer(loop)
    fetches, produces = Purgatory("Fetch", timer), Purgatory("Produce", timer)
    fetches.park(Fetch(), watch=["orders-0", "orders-1"], timeout_ms=500)
    fetches.park(Fetch(), watch=["orders-0"], timeout_ms=5)
    yield {"timer": timer.describe(), "purgatories": [fetches.describe(), produces.describe()]}
    loop.close()


CONNECTION = {
    "id": 7,
    "peer": "127.0.0.1:50000",
    "listener": "PLAINTEXT",
    "client_id": "bad\x1b[2Jname",
    "client_software_name": "apache-kafka-java",
    "client_software_version": "3.9.1",
    "requests": 12,
    "bytes_in": 3456,
    "bytes_out": 78,
    "parked": 1,
    "idle_ms": 250,
}
OLD_CLIENT = {**CONNECTION, "id": 8, "client_id": None} | dict.fromkeys(
    ("client_software_name", "client_software_version"), ""
)


def test_timers_are_shown_as_tables(timers: dict[str, object]) -> None:
    with serving({"/debug/timers": lambda _: json_answer(timers)}) as url:
        result = run("debug", "timers", "--url", url)
    assert result.exit_code == 0, result.output
    assert lines(result.stdout) == [
        "2 deadlines wait. The wheel turns next in 5 ms.",
        "tick ms busy buckets pending",
        "1 1 1",
        "20 0 0",
        "400 1 1",
        "purgatory waiting watched of them finished keys most watched",
        "Fetch 2 3 0 2 orders-0 (2), orders-1 (1)",
        "Produce 0 0 0 0",
    ]


def test_a_wheel_with_nothing_on_it_stands_still() -> None:
    loop = VirtualTimeLoop()
    document = {"timer": Timer(loop).describe(), "purgatories": list[object]()}
    with serving({"/debug/timers": lambda _: json_answer(document)}) as url:
        result = run("debug", "timers", "--url", f"{url}/")
    assert result.stdout.startswith("0 deadlines wait. The wheel stands still.\n")
    loop.close()


def test_connections_are_shown_as_a_table_that_no_client_can_spoil() -> None:
    document = {"connections": [CONNECTION, OLD_CLIENT]}
    with serving({"/debug/connections": lambda _: json_answer(document)}) as url:
        result = run("debug", "connections", "--url", url)
    assert result.exit_code == 0, result.output
    row = "127.0.0.1:50000 PLAINTEXT 12 3456 78 1 250"
    assert lines(result.stdout)[1:] == [
        rf"7 {row} bad\x1b[2Jname apache-kafka-java 3.9.1",
        f"8 {row} -",
    ]


def test_json_is_what_the_broker_sent(timers: dict[str, object]) -> None:
    document = {"connections": [CONNECTION]}
    routes: dict[str, Route] = {
        "/debug/timers": lambda _: json_answer(timers),
        "/debug/connections": lambda _: json_answer(document),
    }
    with serving(routes) as url:
        shown = [run("debug", what, "--url", url, "--json") for what in ("timers", "connections")]
    assert [json.loads(result.stdout) for result in shown] == [timers, document]


def test_where_nobody_listens_the_way_out_is_named() -> None:
    with socket.socket() as bound:  # and so nobody else's; it does not listen
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        result = run("debug", "timers", "--url", url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"nobody answers at {url}" in told(result)
    assert "ottla.http.port" in told(result)


def not_json(query: dict[str, str]) -> Answer:
    return 200, "text/html", b"<html>"


@pytest.mark.parametrize(
    ("routes", "sentence"),
    [
        ({}, "has no /debug/timers (it answered 404). Is it a broker's HTTP port?"),
        ({"/debug/timers": not_json}, "does not answer as a broker's HTTP port does"),
        ({"/debug/timers": lambda _: json_answer([])}, "as this version of Ottla does"),
        ({"/debug/timers": lambda _: json_answer({"timer": {}})}, "as this version of Ottla does"),
    ],
)
def test_another_program_at_the_port_is_told_apart(routes: dict[str, Route], sentence: str) -> None:
    with serving(routes) as url:
        result = run("debug", "timers", "--url", url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert sentence in told(result)


def test_a_proxy_is_not_asked(monkeypatch: pytest.MonkeyPatch, timers: dict[str, object]) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with serving({"/debug/timers": lambda _: json_answer(timers)}) as url:
        assert run("debug", "timers", "--url", url).exit_code == 0


@pytest.mark.parametrize("url", ["127.0.0.1:9600", "file:///etc/passwd"])
def test_an_address_of_another_kind_is_a_wrong_call(url: str) -> None:
    result = run("debug", "connections", "--url", url)
    assert result.exit_code == 2
    assert "is not like http://127.0.0.1:PORT" in told(result)
