"""The page of what Ottla speaks is that of the code."""

from __future__ import annotations

from pathlib import Path

from ottla.cli.apis import all_apis
from ottla.cli.compatibility import compatibility_page
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
    assert by_name["Produce"] == ["0-11", "9", "0-6", "0-11", "not yet"]
    assert by_name["SaslHandshake"] == ["0-1", "-", "0-1", "0-1", "not yet"]
    assert by_name["ElectLeaders"] == ["0-2", "2", "-", "0-2", "not yet"]
    assert by_name["ConsumerGroupDescribe"] == ["0", "0", "-", "0", "not yet"]
    assert by_name["Vote"] == ["0-1", "0", "-", "-", "not yet"]


def test_whatever_3_9_1_advertises_is_spoken_in_all_its_versions() -> None:
    for key, _, spoken, _, _, advertised, _ in rows():
        assert advertised in ("-", spoken), key


def test_the_command_prints_the_page() -> None:
    result = run("protocol", "compatibility")
    assert (result.exit_code, result.stdout) == (0, compatibility_page())
