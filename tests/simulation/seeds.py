"""Which seeds a test runs with: a few in `make test`, many under the soak profile, or just one.

OTTLA_SEED=123 (`make sim SEED=123`) repeats one seed of every test.
"""

from __future__ import annotations

import os

import pytest

SOAKS = os.environ.get("OTTLA_TEST_PROFILE") == "soak"


def repetitions(few: int, *, soak: int) -> int:
    return soak if SOAKS else few


def given_seeds(few: int, *, soak: int) -> pytest.MarkDecorator:
    """Runs the test with each `seed`; the failing one stands in the test's name."""
    wanted = os.environ.get("OTTLA_SEED")
    seeds = [int(wanted)] if wanted else list(range(repetitions(few, soak=soak)))
    return pytest.mark.parametrize("seed", seeds)
