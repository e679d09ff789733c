"""The page of what Ottla speaks is that of the code."""

from __future__ import annotations

import re
from pathlib import Path

from ottla.cli.apis import all_apis
from ottla.cli.compatibility import compatibility_page
from ottla.handlers import HANDLERS
from tests.unit.cli.commands import run

PAGE = Path(__file__).parents[3] / "docs" / "COMPATIBILITY.md"


def rows() -> list[list[str]]:
    lines = compatibility_page().partition("## APIs")[2].partition("## Records")[0].splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][1:]


def test_the_page_in_the_repository_is_current() -> None:
    current = PAGE.read_text(encoding="utf-8") == compatibility_page()
    assert current, "docs/COMPATIBILITY.md is not what the code says; run `make compatibility`"


def test_every_api_has_its_row() -> None:
    assert [(int(key), name) for key, name, *_ in rows()] == [
        (api.key, api.name) for api in all_apis()
    ]


def test_a_row_stands_beside_what_apache_kafka_advertises() -> None:
    by_name = {name: rest for _, name, *rest in rows()}
    assert by_name["Produce"] == ["0-11", "0-11", "9", "0-6", "0-11"]
    assert by_name["SaslHandshake"] == ["0-1", "0-1", "-", "0-1", "0-1"]
    assert by_name["ElectLeaders"] == ["0-2", "0-2", "2", "-", "0-2"]
    assert by_name["ConsumerGroupDescribe"] == ["-", "0", "0", "-", "0"]
    assert by_name["Vote"] == ["-", "0-1", "0", "-", "-"]


def test_whatever_3_9_1_advertises_is_spoken_in_all_its_versions() -> None:
    for key, _, _, spoken, _, _, advertised in rows():
        assert advertised in ("-", spoken), key


def test_an_api_is_served_if_it_has_a_handler_and_never_beyond_what_is_spoken() -> None:
    assert [int(key) for key, _, served, *_ in rows() if served != "-"] == sorted(HANDLERS)
    for api in all_apis():
        oldest, newest = HANDLERS.get(api.key, (api.oldest, api.newest))
        assert api.oldest <= oldest <= newest <= api.newest, api.name


def test_whatever_is_not_served_is_told_as_left_out() -> None:
    left_out = compatibility_page().partition("## Knowingly left out")[2]
    told = [
        key
        for first, last in re.findall(r"\b(\d+)(?:-(\d+))?(?=[,)])", left_out)
        for key in range(int(first), int(last or first) + 1)
    ]
    assert sorted(told) == [int(key) for key, _, served, *_ in rows() if served == "-"]


def test_the_command_prints_the_page() -> None:
    result = run("protocol", "compatibility")
    assert (result.exit_code, result.stdout) == (0, compatibility_page())
