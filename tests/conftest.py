"""What holds for every test: the terminal it sees, and how hard Hypothesis looks.

OTTLA_TEST_PROFILE is `default` or `soak`.
"""

from __future__ import annotations

import os

from hypothesis import settings

# What a command prints is compared word by word, so neither colours nor a narrow window may
# break the words. Typer reads these once, when it is imported, so a fixture would be too late.
for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TERMINAL_WIDTH"):
    os.environ.pop(name, None)
os.environ["COLUMNS"] = "100"

# A deadline measures the machine, not the code. In CI the same examples run each time, so that
# a red build is due to the change it is about; elsewhere every run looks at new ones.
settings.register_profile("default", max_examples=50, deadline=None, derandomize="CI" in os.environ)
settings.register_profile("soak", max_examples=5_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("OTTLA_TEST_PROFILE", "default"))
