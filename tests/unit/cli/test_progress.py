"""A count that appears only when the work takes long, and only on a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from ottla.cli.progress import Counter


def shown(*moments: float, terminal: bool = True, total: int | None = None) -> str:
    output = StringIO()
    now = [0.0]
    console = Console(file=output, force_terminal=terminal, width=80)
    with Counter("records", console, clock=lambda: now[0], total=total) as counter:
        for count, moment in enumerate(moments, 1000):
            now[0] = moment
            counter.show(count)
    return output.getvalue()


def test_quick_work_shows_nothing() -> None:
    assert shown(0.5, 1.0, 2.0) == ""


def test_slow_work_is_counted() -> None:
    assert "1,001 records" in shown(1.0, 2.5)


def test_a_pipe_never_sees_it() -> None:
    assert shown(1.0, 9.0, terminal=False) == ""


def test_work_whose_end_is_known_has_a_bar() -> None:
    assert "━" in shown(1.0, 2.5, total=2000)
    assert "━" not in shown(1.0, 2.5)
