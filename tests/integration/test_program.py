"""The program beside others in a shell's pipe."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("arguments", [["apis"], ["errors", "--json"], ["compatibility"]])
def test_a_reader_that_goes_away_is_no_reason_for_a_stack_trace(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "ottla", "protocol", *arguments]
        ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, b"")
