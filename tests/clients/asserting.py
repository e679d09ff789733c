"""Whoever asserts outside of test files: their failures are to tell as much as a test's."""

from __future__ import annotations

import pytest

_MODULES = ("groups.crew", "groups.scenarios", "transactions.stage", "transactions.scenarios")


def rewrite_asserts() -> None:
    """To be called before any of them is imported."""
    pytest.register_assert_rewrite(*(f"tests.clients.{module}" for module in _MODULES))
