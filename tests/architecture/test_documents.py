"""What the documents point to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


def named(document: Path) -> list[Path]:
    """The files and folders of the repository that its links lead to."""
    links = re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8"))
    return [document.parent / link for link in links if "://" not in link]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    assert [path for path in named(document) if not path.exists()] == []


def test_the_architecture_names_only_files_that_exist() -> None:
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    names = dict.fromkeys(re.findall(r"`(?:ottla/)?([\w/]+\.py)`", page))
    assert len(names) > 50
    assert [name for name in names if not list((ROOT / "ottla").rglob(name))] == []


def test_decisions_are_numbered_without_gaps_and_say_their_number() -> None:
    numbers = [path.name[:4] for path in DECISIONS]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
    for path, number in zip(DECISIONS, numbers, strict=True):
        assert path.read_text(encoding="utf-8").startswith(f"# {number}: "), path.name
