"""The bar that `ottla log verify` shows while it takes long."""

from __future__ import annotations

import io

from rich.console import Console

from ottla.cli.log_verify import Bar


def shown_after(seconds: float, *, terminal: bool) -> str:
    now = [100.0]
    console = Console(file=io.StringIO(), force_terminal=terminal, width=80)
    with Bar(console, clock=lambda: now[0]) as bar:
        bar.show(0, 1_000)
        now[0] += seconds
        bar.show(500, 1_000)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_no_bar_is_shown_for_two_seconds() -> None:
    assert "checking" not in shown_after(1.9, terminal=True)


def test_then_a_bar_tells_how_far_it_is() -> None:
    shown = shown_after(2.1, terminal=True)
    assert "checking" in shown
    assert "0.5/1.0 kB" in shown or "500/1000 bytes" in shown


def test_a_file_or_a_pipe_gets_no_bar() -> None:
    assert "checking" not in shown_after(5, terminal=False)
