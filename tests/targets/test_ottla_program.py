"""A program that does not come up is a failure with its own words, and leaves nothing running."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.targets.ottla_program import OttlaFailed, OttlaProgram


def test_a_broker_that_refuses_its_settings_says_so(tmp_path: Path) -> None:
    program = OttlaProgram(tmp_path, {"broker.id": "no number"})
    with pytest.raises(OttlaFailed, match=r"(?s)ended with [1-9].*broker"), program:
        pass
