"""What tests may ask of a broker over HTTP, and what they hear of their mistakes."""

from __future__ import annotations

import json

import pytest

from ottla.broker.testing_hooks import Hooks
from ottla.network.http import Answer


class NineOClock:
    def now_ms(self) -> int:
        return 9_000


def post(hooks: Hooks, path: str, **query: str) -> tuple[int, str]:
    return text(hooks.post_routes()[path](query))


def text(answer: Answer) -> tuple[int, str]:
    status, _, body = answer
    assert isinstance(body, bytes)
    return status, body.decode()


def test_faults_wait_until_requests_meet_them_or_they_are_cleared() -> None:
    hooks = Hooks(NineOClock())
    faults = "/testing/faults"
    assert post(hooks, faults, api="Produce", error="NOT_LEADER_OR_FOLLOWER", count="3")[0] == 200
    assert post(hooks, faults, api="Fetch", delay_ms="200")[0] == 200
    status, body = post(hooks, faults, api="Fetch", drop="true")
    assert (status, json.loads(body)) == (200, {"waiting": {"Produce": 3, "Fetch": 2}})
    post(hooks, "/testing/faults/clear")
    assert json.loads(text(hooks.get_routes()[faults]({}))[1]) == {"waiting": {}}


def test_the_clock_is_set_forward_and_back() -> None:
    hooks = Hooks(NineOClock())
    assert json.loads(post(hooks, "/testing/clock", skew_ms="500")[1])["now_ms"] == 9_500
    assert hooks.clock.now_ms() == 9_500
    post(hooks, "/testing/clock", skew_ms="-8000")
    assert hooks.clock.now_ms() == 1_000


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"api": "Prduce", "drop": "true"}, "api 'Prduce' is unknown; did you mean Produce?"),
        (
            {"api": "Fetch", "error": "not_leader"},
            "error 'not_leader' is unknown; did you mean NOT_LEADER_OR_FOLLOWER?",
        ),
        ({"drop": "true"}, "api is missing"),
        ({"api": "Fetch"}, "a fault has an error, a delay_ms or drop=true"),
        ({"api": "Fetch", "delay_ms": "soon"}, "delay_ms 'soon' is no number"),
        ({"api": "Fetch", "drop": "true", "count": "0"}, "count 0 is not between 1 and 1000000"),
        ({"api": "Fetch", "drop": "1"}, "drop '1' is unknown; known: true, false"),
        ({"api": "Fetch", "delay": "7"}, "parameter 'delay' is unknown; did you mean delay_ms?"),
        (
            {"api": "Fetch", "drop": "true", "error": "CORRUPT_MESSAGE"},
            "drop=true closes the connection, so there is no error to tell",
        ),
    ],
)
def test_a_mistake_is_refused_with_its_fix(query: dict[str, str], words: str) -> None:
    hooks = Hooks(NineOClock())
    assert post(hooks, "/testing/faults", **query) == (400, f"{words}\n")
    assert json.loads(text(hooks.get_routes()["/testing/faults"]({}))[1]) == {"waiting": {}}


def test_all_mistakes_are_told_at_once() -> None:
    status, words = post(
        Hooks(NineOClock()), "/testing/faults", api="Fetsh", error="OOPS", count="x"
    )
    assert status == 400
    assert words.count(";") >= 4
    assert "did you mean Fetch?" in words
    assert "count 'x' is no number" in words


@pytest.mark.parametrize("query", [{}, {"skew_ms": "an hour"}, {"skew_ms": "9" * 30}, {"ms": "1"}])
def test_a_clock_is_not_set_to_nonsense(query: dict[str, str]) -> None:
    hooks = Hooks(NineOClock())
    assert post(hooks, "/testing/clock", **query)[0] == 400
    assert hooks.clock.now_ms() == 9_000
