"""The scenarios assert outside of test files: their failures are to tell as much."""

from __future__ import annotations

import pytest

for _module in ("crew", "scenarios"):
    pytest.register_assert_rewrite(f"tests.clients.groups.{_module}")
