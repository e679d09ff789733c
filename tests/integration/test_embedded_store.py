"""The embedded store's file: who may open it, what lasts in it, and disks that fail."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ottla.store import database
from ottla.store.database import CannotOpen, Database
from ottla.store.embedded import EmbeddedStore, EmbeddedTree
from ottla.store.port import Create, NodeExists, StoreUnavailable

ROOT = Path(__file__).parents[2]


def on_loop(test: Callable[[Path], Awaitable[None]]) -> Callable[[Path], None]:
    async def run(folder: Path) -> None:
        await test(folder)

    def test_on_loop(tmp_path: Path) -> None:
        asyncio.run(run(tmp_path))

    return test_on_loop


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    # EFBIG stands for a disk that does not take a write.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@on_loop
async def test_what_was_written_is_there_after_reopening(folder: Path) -> None:
    tree = EmbeddedTree(str(folder / "m.db"))
    store = EmbeddedStore(tree)
    await store.create("/ids")
    kept = await store.create("/ids/n", b"kept", sequential=True)
    mine = await store.create("/ids/mine", ephemeral=True)
    await tree.close()
    tree = EmbeddedTree(str(folder / "m.db"))
    store = EmbeddedStore(tree)
    assert await store.read("/ids/n0000000000") == kept
    assert await store.children("/ids") == ["n0000000000"]
    again = await store.create("/ids/mine", ephemeral=True)
    assert again.czxid > mine.czxid
    assert (await store.create("/ids/n", sequential=True)).path == "/ids/n0000000003"
    await tree.close()


@on_loop
async def test_changes_are_numbered_on_though_their_nodes_are_gone(folder: Path) -> None:
    numbers = []
    for _ in range(3):
        tree = EmbeddedTree(str(folder / "m.db"))
        store = EmbeddedStore(tree)
        numbers.append((await store.create("/a")).czxid)
        await store.delete("/a")
        await tree.close()
    assert numbers == sorted({*numbers})


@on_loop
async def test_what_is_asked_in_one_tick_is_one_transaction(folder: Path) -> None:
    tree = EmbeddedTree(str(folder / "m.db"))
    store = EmbeddedStore(tree)
    await store.create("/topics")
    before = tree.commits
    asked = [store.create(f"/topics/{number % 900}") for number in range(1000)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert tree.commits == before + 1
    assert [type(answer) for answer in answers[900:]] == [NodeExists] * 100
    assert len(await store.children("/topics")) == 900
    await tree.close()


@on_loop
async def test_two_in_one_process_cannot_have_the_file(folder: Path) -> None:
    tree = EmbeddedTree(str(folder / "m.db"))
    with pytest.raises(CannotOpen, match=r"m.db: another process has it open; stop"):
        EmbeddedTree(str(folder / "m.db"))
    await EmbeddedStore(tree).create("/a")
    await tree.close()
    await EmbeddedTree(str(folder / "m.db")).close()


def test_another_process_cannot_have_the_file(tmp_path: Path) -> None:
    held = Database(str(tmp_path / "m.db"))
    program = f"from ottla.store.database import Database; Database({held.path!r})"
    other = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "CannotOpen" in other.stderr
    assert "another process has it open" in other.stderr
    held.close()


def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    opened = Database(str(tmp_path / "m.db"))
    assert opened.setting("synchronous") == 2  # FULL
    assert opened.setting("journal_mode") == "wal"
    opened.close()


def test_garbage_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_bytes(b"broker.id=0\n" * 1000)
    with pytest.raises(CannotOpen, match=r"m.db: this is no metadata store"):
        Database(str(tmp_path / "m.db"))
    assert (tmp_path / "m.db").read_bytes() == b"broker.id=0\n" * 1000


def test_the_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with sqlite3.connect(path) as foreign:
        foreign.execute("CREATE TABLE bookmarks (title TEXT)")
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(CannotOpen, match=r"m.db: the SQLite file of another program"):
        Database(str(path))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["m.db"]


def test_a_damaged_file_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    Database(str(path)).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(CannotOpen, match=r"m.db: the metadata store is damaged; restore"):
        Database(str(path))


def test_a_folder_that_is_missing_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match=r"none/m.db: unable to open"):
        Database(str(tmp_path / "none" / "m.db"))


def test_a_later_version_is_refused_and_an_older_one_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "m.db")
    old = Database(path)
    old.close()
    with monkeypatch.context() as later:
        later.setattr(
            database,
            "MIGRATIONS",
            [*database.MIGRATIONS, "INSERT INTO node VALUES ('/new', '/', x'', 0, 0, 0, 0, 0);"],
        )
        migrated = Database(path)
        assert migrated.names("/") == ["new"]
        migrated.close()
        again = Database(path)
        assert again.names("/") == ["new"]
        again.close()
    with pytest.raises(CannotOpen, match=r"m.db: written by a later release .* version 2 .* 1;"):
        Database(path)


@on_loop
async def test_a_disk_that_takes_no_more_refuses_and_recovers(folder: Path) -> None:
    path = folder / "m.db"
    tree = EmbeddedTree(str(path))
    store = EmbeddedStore(tree)
    kept = await store.create("/a", b"kept")
    told: list[str] = []
    store.watch("/a", lambda: told.append("a"))
    large = bytes(100_000)
    with no_file_grows_beyond(50_000):
        asked = [store.write("/a", large), store.create("/b", large), store.read("/a")]
        answers = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 3
    assert isinstance(answers[0], StoreUnavailable)
    assert str(answers[0]) == f"{path}: disk I/O error"
    assert isinstance(answers[0].__cause__, sqlite3.OperationalError)
    assert await store.read("/a") == kept
    assert told == []
    assert (await store.write("/a", large)).version == 1
    await tree.close()


@on_loop
async def test_a_full_disk_is_said_to_be_so_and_may_have_room_again(folder: Path) -> None:
    tree = EmbeddedTree(str(folder / "m.db"))
    store = EmbeddedStore(tree)
    await tree.look(lambda opened: opened.setting("max_page_count = 1"))  # no more than it has
    with pytest.raises(StoreUnavailable, match=r"m.db: database or disk is full"):
        await store.multi([Create("/a", b"small"), Create("/b", bytes(100_000))])
    await tree.look(lambda opened: opened.setting("max_page_count = 1000"))
    assert await store.children("/") == []
    await store.create("/b", bytes(100_000))
    await tree.close()


@on_loop
async def test_after_a_failed_fsync_nothing_is_written_any_more(folder: Path) -> None:
    tree = EmbeddedTree(str(folder / "m.db"))
    store = EmbeddedStore(tree)
    await store.create("/a")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "_commit", _fail_to_sync)
        with pytest.raises(StoreUnavailable, match="no fsync"):
            await store.create("/b")
    with pytest.raises(StoreUnavailable, match="no fsync"):
        await store.create("/c")
    assert await store.children("/") == ["a"]
    await tree.close()


def _fail_to_sync(_: Database) -> None:
    error = sqlite3.OperationalError("no fsync")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
    raise error


@on_loop
async def test_a_cancelled_caller_disturbs_nobody(folder: Path) -> None:
    tree = EmbeddedTree(str(folder / "m.db"))
    store = EmbeddedStore(tree)
    cancelled = asyncio.ensure_future(store.create("/a"))
    other = asyncio.ensure_future(store.create("/b"))
    await asyncio.sleep(0)
    cancelled.cancel()
    assert (await other).path == "/b"
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    await tree.close()


@on_loop
async def test_a_closed_file_is_unavailable(folder: Path) -> None:
    tree = EmbeddedTree(str(folder / "m.db"))
    store = EmbeddedStore(tree)
    asked = asyncio.ensure_future(store.create("/a"))
    await asyncio.sleep(0)
    await asyncio.gather(tree.close(), tree.close())
    assert (await asked).path == "/a"
    with pytest.raises(StoreUnavailable, match=r"m.db: the metadata store is closed"):
        await store.read("/a")


@on_loop
async def test_nobody_waits_for_a_thread_that_has_died(folder: Path) -> None:
    died: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, "excepthook", died.append)
        tree = EmbeddedTree(str(folder / "m.db"))
        asked = [tree.look(lambda nodes: 1 // 0), tree.look(lambda nodes: nodes.find("/"))]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(answer) for answer in answers] == [StoreUnavailable] * 2
        await tree.close()
    assert len(died) == 1
    with pytest.raises(StoreUnavailable, match="closed"):
        await EmbeddedStore(tree).multi([Create("/a", b"")])
