"""How commands print: tables that fit the terminal, plain text for pipes, JSON for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

import typer
from rich import box
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

# A last column narrower than this would be a ladder of single words.
_NARROWEST_TEXT = 24
# Some terminals obey these as they obey escape sequences, and JSON lets them through.
_CONTROLS = re.compile("[\x7f-\x9f]")
# And these it obeys instead of showing them.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f]")


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console | None = None
) -> None:
    """A table whose last column holds sentences and may wrap; the others never do."""
    console = console or Console()
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    fixed = sum(widths[:-1]) + 2 * len(widths)
    if not console.is_terminal:
        _print_plain(columns, rows, widths)
    elif fixed + min(widths[-1], _NARROWEST_TEXT) > console.width:
        _print_stacked(columns, rows, console)
    else:
        table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for column in table.columns[:-1]:
            column.no_wrap = True
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)


def print_json(values: Sequence[object]) -> None:
    """For people: indented, and a list only if there are several; coloured on a terminal."""
    console = Console()
    ascii_only = not console.encoding.startswith("utf")
    shown = values[0] if len(values) == 1 else values
    text = json.dumps(shown, indent=2, ensure_ascii=ascii_only)
    text = _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if console.is_terminal:
        console.print(
            JSONHighlighter()(Text(text, overflow="ignore", no_wrap=True)), soft_wrap=True
        )
    else:
        typer.echo(text)


def print_json_lines(values: Iterable[object]) -> None:
    """For programs: one object a line."""
    for value in values:
        typer.echo(json.dumps(value, separators=(",", ":")))


def visible(line: str) -> str:
    """The line with what a terminal would obey written out."""
    return _OBEYED.sub(lambda found: f"\\x{ord(found[0]):02x}", line)


def _print_plain(
    columns: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]
) -> None:
    """Aligned and never wrapped, so that each line is one row to grep and awk."""
    for row in (columns, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        typer.echo("  ".join(cells).rstrip())


def _print_stacked(columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    for number, row in enumerate((columns, *rows)):
        console.print(Text("  ".join(row[:-1]), style="" if number else "bold"))
        console.print(Padding(Text(row[-1], style="dim"), (0, 0, 0, 4)))
