"""A PostgreSQL of the tests' own: on a free port, in a folder that goes with it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.kafka.peer import free_ports

_LIMIT_S = 60
_numbers = count(1)
# Nothing here outlives the tests, so nothing is synced.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_prepared_transactions": "2",
    "timezone": "UTC",
}


def find_programs() -> Path:
    """Debian keeps the server's off the PATH. Skips where there are none; in CI that fails."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if onpath := shutil.which("postgres"):
        places.insert(0, Path(onpath).parent)
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    reason = "this test needs a PostgreSQL server: apt-get install postgresql"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class Postgres:
    """One server. `database()` is a fresh database in it, for a test that wants its own."""

    def __init__(self) -> None:
        self._programs = find_programs()
        # Not below pytest's folder: only root may enter that, and a server of root's refuses.
        self._folder = Path(tempfile.mkdtemp(prefix="ottla-postgres-"))
        self._data = self._folder / "data"
        self._user = _unprivileged()
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        (self.port,) = free_ports(1)
        self.url = self._url("postgres")
        self._run("initdb", "--auth=trust", "--username=ottla", "--encoding=UTF8", "--no-sync")
        self.start()

    def start(self) -> None:
        settings = {**_SETTINGS, "port": str(self.port), "unix_socket_directories": self._folder}
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        self._run("pg_ctl", "start", "--wait", f"--log={self._folder}/log", f"--options={options}")

    def stop(self) -> None:
        """At once, as a crash: what was committed is found again at the next start."""
        self._run("pg_ctl", "stop", "--wait", "--mode=immediate")

    def close(self) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self._folder)

    def database(self) -> str:
        name = f"test_{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"create database {name}".encode())
        return self._url(name)

    def _url(self, database: str) -> str:
        return f"postgresql://ottla@127.0.0.1:{self.port}/{database}"

    def _run(self, program: str, *arguments: str) -> None:
        # No pipe: the server would inherit it, and whoever reads it would wait for the server.
        done = subprocess.run(
            [self._programs / program, f"--pgdata={self._data}", *arguments],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            user=self._user,
            timeout=_LIMIT_S,
        )
        log = self._folder / "log"
        told = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        assert done.returncode == 0, f"{program} ended with {done.returncode}\n{told}"


def _unprivileged() -> str | None:
    """The user that it runs as, if not as ourselves."""
    if os.geteuid() != 0:
        return None
    names = [each.pw_name for each in pwd.getpwall()]
    return "postgres" if "postgres" in names else "nobody"
