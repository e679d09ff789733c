"""One Python file as the tidiness rules see it: its path, its lines, its syntax tree."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Source:
    path: str  # from the repository's root, with "/"
    text: str
    tree: ast.Module

    @property
    def stem(self) -> str:
        return self.path.rsplit("/", 1)[-1].removesuffix(".py")

    def is_in(self, *folders: str) -> bool:
        return self.path.startswith(tuple(f"{folder}/" for folder in folders))

    def at(self, node: ast.AST) -> int:
        line: int = getattr(node, "lineno", 1)
        return line

    def references(self) -> Iterator[tuple[ast.expr, str]]:
        """Every name used, as what it was imported from: `t.time` after `import time as t`."""
        origin = _origins(self.tree)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name | ast.Attribute) and (dotted := _dotted(node)):
                first, _, rest = dotted.partition(".")
                if first in origin:
                    yield node, f"{origin[first]}.{rest}" if rest else origin[first]


def _origins(tree: ast.Module) -> dict[str, str]:
    origin = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                origin[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                origin[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return origin


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""


def parse(text: str, path: str = "ottla/example.py") -> Source:
    return Source(path, text, ast.parse(text))


@cache
def repository_files() -> list[str]:
    """What git tracks or would: a file is judged before it is committed, too."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    names = sorted(filter(None, listing.stdout.decode().split("\0")))
    return [name for name in dict.fromkeys(names) if (ROOT / name).is_file()]


@cache
def sources() -> list[Source]:
    return [
        parse((ROOT / name).read_text(encoding="utf-8"), name)
        for name in repository_files()
        if name.endswith(".py")
    ]
