"""A disk without room: appends are refused, the log stays as it is, and all else goes on."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.protocol.errors import ErrorCode
from tests.hostile.client import (
    Client,
    batch_of,
    create_topics,
    creation,
    is_led,
    produce,
    read_all,
)
from tests.hostile.process import BrokerProcess, until
from tests.hostile.producers import Idempotent, expect_all

_DISK_BYTES = 24 * 1024 * 1024
_PAGE = 4096


class SmallDisk:
    """A tmpfs; `fill` takes what is left, `free` gives it back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        with self._ballast.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(_PAGE))
            except OSError:
                pass

    def free(self) -> None:
        self._ballast.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted: {mounted.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def settings(disk: SmallDisk, tmp_path: Path, *, metadata: Path) -> dict[str, str]:
    return {
        "log.dirs": f"{disk.folder / 'data'}",
        "ottla.metadata.path": str(metadata),
        "log.segment.bytes": "1000000",
    }


@pytest.fixture
def broker(disk: SmallDisk, tmp_path: Path) -> Iterator[BrokerProcess]:
    options = settings(disk, tmp_path, metadata=tmp_path / "metadata.db")
    with BrokerProcess(tmp_path / "broker", settings=options) as process:
        yield process


def test_a_full_disk_refuses_appends_and_serves_reads(
    broker: BrokerProcess, disk: SmallDisk
) -> None:
    with Client(broker.address) as client:
        assert create_topics(client, ["t"]) == [ErrorCode.NONE]
        assert not produce(client, "t", batch_of(b"before")).error_code
        disk.fill()
        kept: list[tuple[int, bytes | None]] = [(0, b"before")]
        error = ErrorCode.NONE
        while not error:  # until what was set aside for this log is used up
            value = b"%d " % len(kept) * 10_000
            answer = produce(client, "t", batch_of(value))
            error = ErrorCode(answer.error_code)
            if not error:
                kept.append((answer.base_offset, value))
        assert error is ErrorCode.KAFKA_STORAGE_ERROR
        assert read_all(client, "t") == kept
        disk.free()
        answer = produce(client, "t", batch_of(b"after"))
        assert (answer.error_code, answer.base_offset) == (0, len(kept))
        assert read_all(client, "t") == [*kept, (len(kept), b"after")]
    broker.expect_no_bug()


def test_an_idempotent_producer_loses_and_doubles_nothing_on_a_full_disk(
    broker: BrokerProcess, disk: SmallDisk
) -> None:
    over = threading.Event()
    with Client(broker.address) as client:
        assert create_topics(client, ["t"]) == [ErrorCode.NONE]
        producer = Idempotent(lambda: Client(broker.address), "t", over)
        producer.start()
        try:
            until(lambda: bool(broker.get("/healthz")) and producer.sent > 20, what="it works")
            disk.fill()
            until(lambda: bool(broker.get("/healthz")) and producer.refused > 20, what="refusals")
            disk.free()
            goal = len(producer.acknowledged) + 100
            until(
                lambda: bool(broker.get("/healthz")) and len(producer.acknowledged) > goal,
                what="it works again",
            )
        finally:
            over.set()
            producer.join()
        expect_all(read_all(client, "t"), producer)
        broker.kill()
        broker.start()
    with Client(broker.address) as client:
        until(lambda: is_led(client, "t"), what="it leads again")
        expect_all(read_all(client, "t"), producer)
    broker.expect_no_bug()


def test_a_topic_on_a_full_disk_is_led_as_soon_as_there_is_room(
    broker: BrokerProcess, disk: SmallDisk
) -> None:
    with Client(broker.address) as client:
        assert create_topics(client, ["before"]) == [ErrorCode.NONE]
        disk.fill()
        answer = creation(client, "later", partitions=3)
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert str(disk.folder / "data") in (answer.error_message or "")
        assert [path.name for path in (disk.folder / "data").glob("later-*")] == []
        assert produce(client, "later", batch_of(b"x")).error_code
        assert read_all(client, "before") == []
        disk.free()
        until(lambda: not produce(client, "later", batch_of(b"x")).error_code, what="it leads")
        for partition in (1, 2):
            until(
                lambda at=partition: is_led(client, "later", partition=at),  # type: ignore[misc]
                what=f"later-{partition} leads",
            )
        assert read_all(client, "later")[0] == (0, b"x")
    broker.expect_no_bug()
    assert broker.terminate() == 0


def test_a_topic_whose_metadata_has_no_room_is_refused_and_leaves_nothing(
    disk: SmallDisk, tmp_path: Path
) -> None:
    options = settings(disk, tmp_path, metadata=disk.folder / "metadata.db")
    with BrokerProcess(tmp_path / "broker", settings=options) as broker:
        with Client(broker.address) as client:
            assert create_topics(client, ["before"]) == [ErrorCode.NONE]
            disk.fill()
            codes = create_topics(client, [f"t{i}" for i in range(50)], partitions=20)
            refused = [f"t{i}" for i, code in enumerate(codes) if code]
            assert refused, "there was room for a thousand partitions"
            assert read_all(client, "before") == []
            disk.free()
            assert create_topics(client, refused[:5]) == [ErrorCode.NONE] * len(refused[:5])
            assert not produce(client, refused[0], batch_of(b"x")).error_code
        broker.expect_no_bug()
        assert broker.terminate() == 0
