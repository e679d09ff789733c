"""A partition's folder made of batches, with the indexes that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ottla.logtools.index import changes, rebuild, write
from ottla.logtools.verify import verify
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.control import ControlType, build_end_transaction
from ottla.protocol.records.record import Record
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.checkpoints import LEADER_EPOCHS, format_leader_epochs
from ottla.storage.epochs import EpochEntry
from ottla.storage.names import FileName, Kind

FOLDER = "data/orders-0"
LOG = f"{FOLDER}/{0:020}.log"
INDEX = f"{FOLDER}/{0:020}.index"
TIME_INDEX = f"{FOLDER}/{0:020}.timeindex"
EPOCHS = f"{FOLDER}/{LEADER_EPOCHS}"


def data(offset: int, *, count: int = 1, producer_id: int = -1, sequence: int = -1) -> bytes:
    """A batch; it belongs to a transaction if it has a producer."""
    records = [Record(offset + i, 1_000 + offset + i, b"key", b"value") for i in range(count)]
    is_transactional = producer_id >= 0
    return build_batch(
        records,
        leader_epoch=0,
        producer_id=producer_id,
        producer_epoch=0 if is_transactional else -1,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )


def marker(offset: int, *, producer_id: int, aborts: bool = True) -> bytes:
    return build_end_transaction(
        ControlType.ABORT if aborts else ControlType.COMMIT,
        offset=offset,
        timestamp=1_000 + offset,
        producer_id=producer_id,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=0,
    )


def put(disk: SimulatedDisk, path: str, content: bytes) -> None:
    disk.make_folder(path.rpartition("/")[0])
    disk.replace(path, content)


def partition(batches: Sequence[bytes], *, interval_bytes: int = 100) -> SimulatedDisk:
    """One segment from offset 0, sound in every way."""
    disk = SimulatedDisk(Random(0))
    put(disk, LOG, b"".join(batches))
    put(disk, EPOCHS, format_leader_epochs([EpochEntry(0, 0)]))
    name = FileName(0, Kind.LOG)
    for change in changes(disk, LOG, name, rebuild(disk, LOG, name, interval_bytes=interval_bytes)):
        write(disk, change)
    return disk


def findings(disk: SimulatedDisk, path: str = FOLDER) -> list[tuple[str, str, int | None, str]]:
    """Severity, file name, position and words of everything that is wrong."""
    return [
        (one.severity.value, one.file.rpartition("/")[2], one.position, one.what)
        for one in verify(disk, path).findings
    ]
