"""Which seeds a test runs with: a few in `make test`, many under the soak profile, or just one.

OTTLA_SEED=123 (`make sim SEED=123`) repeats one seed of every test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

SOAKS = os.environ.get("OTTLA_TEST_PROFILE") == "soak"


def repetitions(few: int, *, soak: int) -> int:
    return soak if SOAKS else few


def given_seeds(few: int, *, soak: int, also: Sequence[int] = ()) -> pytest.MarkDecorator:
    """Runs the test with each `seed`; the failing one stands in the test's name.

    Those that have once found something rare are run always.
    """
    wanted = os.environ.get("OTTLA_SEED")
    seeds = [int(wanted)] if wanted else [*range(repetitions(few, soak=soak)), *also]
    return pytest.mark.parametrize("seed", seeds)


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """A failure inside says how to have it again."""
    try:
        yield
    except BaseException as failure:
        failure.add_note(f"`make sim SEED={seed}` repeats it")
        raise
