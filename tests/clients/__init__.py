"""Real clients, unchanged: what one of them wrote every other reads; groups, transactions."""

from __future__ import annotations

import pytest

# They assert outside of test files, and their failures are to tell as much. Here, because it must
# be said before any of them is imported.
for _module in ("groups.crew", "groups.scenarios", "transactions.stage", "transactions.scenarios"):
    pytest.register_assert_rewrite(f"tests.clients.{_module}")
