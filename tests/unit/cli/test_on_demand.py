"""A command costs its own imports, and the optional library is asked for in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ottla.cli.on_demand import MODULES
from tests.unit.cli.commands import run


def test_every_command_is_in_the_help() -> None:
    shown = run("-h").stdout
    assert [name for name in MODULES if f" {name} " not in shown] == []
    assert "--install-completion" in shown


@pytest.mark.parametrize("name", MODULES)
def test_every_command_explains_itself_with_examples(name: str) -> None:
    result = run(name, "-h")
    assert result.exit_code == 0
    assert f"ottla {name}" in result.stdout
    assert "--install-completion" not in result.stdout


def test_a_mistyped_command_is_told_the_nearest() -> None:
    assert "Did you mean 'topics'?" in run("topcis").stderr


def test_listing_topics_loads_neither_the_log_nor_the_client_library() -> None:
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from ottla.cli.app import app\n"
        "CliRunner().invoke(app, ['topics', 'list', '-b', '127.0.0.1:1'])\n"
        "print([name for name in sys.modules if name.startswith("
        "('ottla.storage', 'ottla.logtools', 'ottla.protocol.records', 'confluent_kafka'))])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert ended.stdout == "[]\n"


@pytest.mark.parametrize(
    "command",
    ["produce", "consume", "verify produce", "verify consume -g g", "bench produce",
     "bench consume --no-header"],
)  # fmt: skip
def test_without_the_extra_the_way_to_it_is_told(
    monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    result = run(*command.split(), "orders", "-b", "127.0.0.1:1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "pip install 'ottla[cli]'" in result.stderr


@pytest.mark.parametrize("command", ["produce", "consume"])
def test_without_fastavro_the_way_to_it_is_told(
    monkeypatch: pytest.MonkeyPatch, command: str, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "fastavro", None)
    (tmp_path / "a.avro").write_bytes(b"")
    result = run(command, "orders", "--avro", f"{tmp_path}/a.avro", "-b", "127.0.0.1:1")
    assert result.exit_code == 1
    assert "needs fastavro. Install it with `pip install 'ottla[cli]'`" in result.stderr


def test_the_collector_looks_again_once_a_command_is_loaded() -> None:
    code = (
        "import gc\n"
        "from typer.testing import CliRunner\n"
        "from ottla.cli.app import app\n"
        "CliRunner().invoke(app, ['broker', '-h'])\n"
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"
