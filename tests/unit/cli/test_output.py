"""A table fits its terminal, and is plain where there is none."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from ottla.cli.output import print_json, print_table

COLUMNS = ("key", "API", "what it is")
ROWS = [
    ("1", "Fetch", "a consumer, or a follower, reads batches from a leader."),
    ("81", "RemoveRaftVoter", "a voter leaves [the quorum]."),
]


def shown(width: int) -> list[str]:
    """The table's lines on a terminal without colours."""
    file = StringIO()
    console = Console(file=file, width=width, force_terminal=True, color_system=None)
    print_table(COLUMNS, ROWS, console)
    return [line.rstrip() for line in file.getvalue().splitlines() if line.strip()]


@pytest.mark.parametrize("width", [30, 45, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(width: int) -> None:
    lines = shown(width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for row in ROWS:
        assert all(word in words for cell in row for word in cell.split())


def test_a_wide_terminal_shows_a_row_on_one_line() -> None:
    assert sum("Fetch" in line and "leader." in line for line in shown(120)) == 1


def test_a_narrow_terminal_shows_the_sentence_below() -> None:
    assert shown(40)[2:5] == [
        "1  Fetch",
        "    a consumer, or a follower, reads",
        "    batches from a leader.",
    ]


def test_a_pipe_gets_one_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(COLUMNS, ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "key  API              what it is",
        "1    Fetch            a consumer, or a follower, reads batches from a leader.",
        "81   RemoveRaftVoter  a voter leaves [the quorum].",
    ]


def test_json_for_people_keeps_letters_readable(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"clientId": "žába"}])
    assert capsys.readouterr().out == '{\n  "clientId": "žába"\n}\n'


def test_a_name_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"clientId": "\x1b[2J\x9b2J"}])
    assert capsys.readouterr().out == '{\n  "clientId": "\\u001b[2J\\u009b2J"\n}\n'
