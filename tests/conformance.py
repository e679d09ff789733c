"""The recorder behind `make conformance`: what came of each test becomes docs/CONFORMANCE.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.clients.asserting import rewrite_asserts

rewrite_asserts()  # their conftest.py would, but it comes too late here

from tests.clients.card import Cell, features_of, rendered  # noqa: E402

CARD = Path(__file__).parents[1] / "docs" / "CONFORMANCE.md"
_RANK = {"passed": 0, "skipped": 1, "failed": 2}
_proves: dict[str, list[Cell]] = {}
_outcomes: dict[Cell, str] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function):
            parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
            _proves[item.nodeid] = features_of(item.originalname, parameters)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for cell in _proves.get(report.nodeid, ()):
        known = _outcomes.get(cell, "passed")
        _outcomes[cell] = max(known, report.outcome, key=_RANK.__getitem__)


def pytest_sessionfinish() -> None:
    if not _outcomes:
        return  # the tests were only counted
    CARD.write_text(rendered(_outcomes), encoding="utf-8")
