"""The program itself: when it refuses to start, and how a failed command ends."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from ottla import __main__ as program
from ottla.protocol.errors import ErrorCode, KafkaError, ProtocolError


def test_python_without_asserts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "flags", SimpleNamespace(optimize=1))
    with pytest.raises(SystemExit, match="without -O"):
        program.main()


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (KafkaError(ErrorCode.NOT_CONTROLLER), "ottla: NOT_CONTROLLER"),
        (
            ProtocolError("2 bytes left over", reading="HeartbeatRequest v4", offset=31),
            "ottla: INVALID_REQUEST: HeartbeatRequest v4, byte 31: 2 bytes left over",
        ),
        (
            FileNotFoundError(2, "No such file or directory", "frame.bin"),
            "ottla: [Errno 2] No such file or directory: 'frame.bin'",
        ),
    ],
)
def test_a_failed_command_ends_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, failure: Exception, sentence: str
) -> None:
    def fail(prog_name: str) -> None:
        raise failure

    monkeypatch.setattr(program, "app", fail)
    with pytest.raises(SystemExit) as end:
        program.main()
    assert end.value.code == sentence


def test_the_program_prints_its_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["ottla", "--version"])
    with pytest.raises(SystemExit) as end:
        program.main()
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("ottla ")
