"""`ottla verify history`: checks what was recorded before, by whomever."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TextIO

import typer

from ottla.cli.connecting import AsJson
from ottla.cli.failure import fail
from ottla.cli.progress import Counter
from ottla.cli.verify_report import tell_report
from ottla.verify.checker import check
from ottla.verify.encoding import BadHistory, from_lines

HISTORY_HELP = """Check a saved history of producers and consumers.

It is a file of JSON lines, as `ottla verify transactions --history FILE` writes it: first
`{"history":1,"has_one_clock":true}`, then one event a line. Looked for are lost writes,
duplicates, aborted and dirty reads, torn transactions, reordering, records passed by, offsets going
backwards, and inputs of a loop that were not transformed exactly once. What nobody knows is held
against nobody.

Exit code: 0 nothing is wrong; 1 something is, or it cannot be read; 2 wrong call.

Examples:

- `ottla verify history run.jsonl`
- `ottla verify history run.jsonl --json | jq .counts`
"""


def verify_history(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False)],
    *,
    as_json: AsJson = False,
) -> None:
    # A history is millions of small values that live until the end, and nothing to collect.
    gc.disable()
    try:
        with file.open(encoding="utf-8") as stream:
            report = check(from_lines(_counted(stream)))
    except BadHistory as cause:
        fail(f"{file}: {cause}.")
    except (OSError, UnicodeDecodeError) as cause:
        fail(f"{file} cannot be read: {cause}.")
    finally:
        gc.enable()
    tell_report(report, {}, as_json=as_json)


def _counted(lines: TextIO) -> Iterator[str]:
    with Counter("events") as counter:
        for number, line in enumerate(lines, 1):
            yield line
            counter.show(number)
