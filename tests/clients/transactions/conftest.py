"""The scenarios assert outside of test files: their failures are to tell as much."""

from __future__ import annotations

import pytest

for _module in ("stage", "scenarios"):
    pytest.register_assert_rewrite(f"tests.clients.transactions.{_module}")
