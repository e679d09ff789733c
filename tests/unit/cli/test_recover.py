"""`ottla log recover` on real files."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from ottla.cli.app import app
from ottla.storage.config import LogConfig
from ottla.storage.directory import LogDirectory
from ottla.storage.disk import RealDisk
from ottla.storage.threads import Inline
from tests.unit.storage.logs import NOW_MS, append, contents

ORDERS = ("orders", 0)


def open_directory(path: Path) -> LogDirectory:
    return LogDirectory.open(
        RealDisk(),
        str(path),
        lambda topic: LogConfig(),
        broker_id=1,
        cluster_id=None,
        now_ms=NOW_MS,
    )


def recover(path: Path, *options: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["log", "recover", str(path), *options])
    return result.exit_code, result.output


def test_a_torn_batch_is_cut_off_and_the_rest_stays(tmp_path: Path) -> None:
    log = open_directory(tmp_path).create(ORDERS, topic_id=None, now_ms=NOW_MS)
    append(log, b"kept")
    size = log.size_bytes
    append(log, b"torn")
    file = tmp_path / "orders-0" / "00000000000000000000.log"
    file.write_bytes(file.read_bytes()[:-3])
    # The broker is gone, and with it its lock.
    (tmp_path / ".lock").unlink()
    code, output = recover(tmp_path, "--json")
    assert code == 0, output
    assert json.loads(output) == {"was_clean": False, "partitions": 1, "checked_bytes": size}
    again = open_directory(tmp_path)
    assert again.was_clean
    assert contents(again.log(ORDERS, now_ms=NOW_MS)) == [(0, b"kept")]


def test_after_a_clean_stop_there_is_nothing_to_do(tmp_path: Path) -> None:
    open_directory(tmp_path).close(Inline())
    code, output = recover(tmp_path)
    assert code == 0
    assert "closed cleanly" in output


def test_a_directory_in_use_is_left_alone(tmp_path: Path) -> None:
    directory = open_directory(tmp_path)
    code, output = recover(tmp_path)
    assert code == 1
    assert "in use by another broker" in output
    directory.close(Inline())


def test_what_is_not_a_log_directory_is_refused(tmp_path: Path) -> None:
    code, output = recover(tmp_path)
    assert code == 2
    assert "meta.properties" in output
