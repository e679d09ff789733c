"""Runs the benchmarks named as arguments, or all there are: `python -m benchmarks codec`.

What begins with a dash is for those benchmarks that have options: `broker --quick`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from itertools import takewhile

KNOWN = (
    "records", "codec", "imports", "disk", "producers", "log", "opening", "compaction", "recovery",
    "timers", "metrics", "groups", "store", "reading", "broker", "coordinator", "transactions",
    "spark",
)  # fmt: skip


def available() -> list[str]:
    return [name for name in KNOWN if importlib.util.find_spec(f"benchmarks.{name}")]


def main(words: Sequence[str]) -> None:
    there = available()
    wanted = list(takewhile(lambda word: not word.startswith("-"), words))
    sys.argv = [sys.argv[0], *words[len(wanted) :]]
    print("benchmarks:", ", ".join(name if name in there else f"({name})" for name in KNOWN))
    if len(there) < len(KNOWN):
        print("those in parentheses are not written yet")
    if unknown := [name for name in wanted if name not in there]:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(there) or '-'}")
    for name in wanted or there:
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
