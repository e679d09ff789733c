"""The program beside others in a shell's pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "server.properties cannot be read: No such file or directory"),
        (b"log.dirs=\\u12", "server.properties is not a properties file: a broken escape"),
        (b"log.dirs=\xff", "server.properties is not a properties file"),
    ],
    ids=["missing", "broken", "not text"],
)
def test_a_broker_without_a_usable_file_ends_with_a_sentence(
    content: bytes | None, sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "server.properties"
    if content is not None:
        file.write_bytes(content)
    command = [sys.executable, "-m", "ottla", "broker", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("ottla: ")
    assert sentence in ended.stderr
    assert ended.stderr.count("\n") == 1
