"""The log directories that real brokers left, on a disk in memory."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType

from ottla.simulation.disk import SimulatedDisk

VECTORS = Path(__file__).parent / "vectors"
KAFKA_3_9 = "segments.tar.gz"
KAFKA_2_0 = "old-segments.tar.gz"


@cache
def files_of(tar_name: str) -> Mapping[str, bytes]:
    """Every file by its path, as `broker-0/plain-0/00000000000000000000.log`."""
    files = {}
    with tarfile.open(VECTORS / tar_name) as tar:
        for member in tar.getmembers():
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None:
                files[member.name.removeprefix("./")] = content.read()
    return MappingProxyType(files)


def disk_with(files: Mapping[str, bytes]) -> SimulatedDisk:
    disk = SimulatedDisk(Random(0))
    for path, data in files.items():
        disk.make_folder(path.rpartition("/")[0])
        file = disk.open(path, create=True)
        file.append([data])
        file.close()
    return disk
