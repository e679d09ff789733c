"""`ottla produce` and `ottla consume`: what cannot be meant is told before anything is asked."""

from __future__ import annotations

import pytest

from tests.unit.cli.commands import run, told


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("produce --json --hex", "--json, --hex and --avro exclude each other"),
        ("consume --json --hex", "--json, --hex and --avro exclude each other"),
        ("produce --idempotence --acks 1", "--idempotence needs --acks all"),
        ("produce --rate 0", "0.0 is not in the range x>=0.1"),
        ("consume --from-beginning --from-time 5", "--from-beginning and --from-time exclude"),
        ("consume --from-time soon", "'soon' is no time"),
        ("consume --offset 5", "--offset needs --partition"),
        ("consume -g team --from-time 5", "`ottla groups reset` moves it"),
        ("verify produce --rate 0", "0 is not in the range x>=1"),
        ("verify consume", "Missing option '--group'"),
    ],
)
def test_a_wrong_call_is_told(command: str, why: str) -> None:
    result = run(*command.split(), "orders", "-b", "127.0.0.1:1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in told(result)
