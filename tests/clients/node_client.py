"""kafkajs, the client of the Node world, installed once beside the program that drives it."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tests.clients.program import Lines, Program
from tests.kafka import jars

PACKAGE = Path(__file__).parent / "node"
_FILES = ("package.json", "client.js", "members.js", "transactions.js")


def start(bootstrap: str, folder: Path) -> Program:
    return Program(
        "kafkajs",
        ["node", str(_installed() / "client.js"), bootstrap],
        log=folder / "kafkajs.log",
    )


def start_members(bootstrap: str, log: Path) -> Lines:
    return Lines("kafkajs", ["node", str(_installed() / "members.js"), bootstrap], log=log)


def start_transactions(bootstrap: str, log: Path) -> Lines:
    return Lines("kafkajs", ["node", str(_installed() / "transactions.js"), bootstrap], log=log)


def _installed() -> Path:
    jars.require("node", "npm")
    digest = hashlib.sha256(b"".join((PACKAGE / name).read_bytes() for name in _FILES)).hexdigest()
    folder = jars.cache() / f"node-client-{digest[:12]}"
    jars.once(folder, _install)
    return folder


def _install(made: Path) -> None:
    for name in _FILES:
        shutil.copy(PACKAGE / name, made)
    jars.run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund"], cwd=made)
