"""Who a broker is when it starts: what its configuration and its log directories say together."""

from __future__ import annotations

import random

import pytest

from ottla.protocol.readable import uuid_text
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.store import MemoryTree
from ottla.storage.directory import DirectoryRefused, make_log_directory
from tests.unit.handlers.one_broker import one_broker
from tests.virtual_time import on_virtual_time

NO_ID = {"broker.id": "-1"}


def disk_with(**meta_properties: str) -> SimulatedDisk:
    """Log directories below /data, each with the text of its meta.properties."""
    disk = SimulatedDisk(random.Random(1))
    for name, text in meta_properties.items():
        make_log_directory(disk, f"/data/{name}")
        disk.replace(f"/data/{name}/meta.properties", text.encode())
    return disk


async def id_after_start(disk: SimulatedDisk, properties: dict[str, str]) -> int:
    async with one_broker(properties, disk=disk) as broker:
        return broker.broker.id


async def refusal_of(disk: SimulatedDisk, properties: dict[str, str]) -> str:
    with pytest.raises(DirectoryRefused) as refused:
        await id_after_start(disk, properties)
    return str(refused.value)


@on_virtual_time
async def test_a_broker_without_a_configured_id_has_that_of_its_directories() -> None:
    assert await id_after_start(disk_with(a="version=0\nbroker.id=7\n"), NO_ID) == 7


@on_virtual_time
async def test_an_id_that_nobody_knows_is_drawn_and_kept() -> None:
    disk, tree = disk_with(), MemoryTree()
    for _ in range(2):
        async with one_broker({**NO_ID, "reserved.broker.max.id": "50"}, disk=disk, tree=tree) as b:
            assert b.broker.id == 51
    assert b"broker.id=51\n" in disk.read("/data/b/meta.properties")


@on_virtual_time
async def test_directories_of_two_brokers_are_refused() -> None:
    disk = disk_with(a="version=0\nbroker.id=7\n", b="version=0\nbroker.id=8\n")
    assert await refusal_of(disk, NO_ID) == (
        "Failed to match broker.id across log.dirs. This could happen if multiple brokers shared "
        "a log directory (log.dirs) or partial data was manually copied from another broker. "
        "Found /data/a: 7, /data/b: 8."
    )


@on_virtual_time
async def test_another_id_than_the_directories_have_is_refused() -> None:
    told = await refusal_of(disk_with(a="version=0\nbroker.id=7\n"), {"broker.id": "1"})
    assert told.startswith(
        "Configured broker.id 1 doesn't match stored broker.id 7 in meta.properties. If you moved "
        "your data, make sure your configured broker.id matches."
    )


@on_virtual_time
async def test_a_directory_of_another_cluster_is_refused() -> None:
    async with one_broker() as broker:
        ours = broker.broker.cluster_id
    other = uuid_text(bytes(16))
    disk = disk_with(a=f"version=0\nbroker.id=1\ncluster.id={other}\n")
    assert await refusal_of(disk, {"broker.id": "1"}) == (
        f"The Cluster ID {ours} doesn't match stored clusterId {other} in "
        "/data/a/meta.properties. The broker is trying to join the wrong cluster. Configured "
        "ottla.metadata.path or log.dirs may be wrong."
    )


@pytest.mark.parametrize("text", ["broker.id=x\n", "version=2\nnode.id=1\n", "broker.id=\\u12"])
@on_virtual_time
async def test_a_directory_whose_identity_is_corrupt_goes_offline_alone(text: str) -> None:
    disk = disk_with(a=text, b="version=0\nbroker.id=7\n")
    async with one_broker(NO_ID, disk=disk) as broker:
        assert broker.broker.id == 7
        assert list(broker.broker.directories.online) == ["/data/b"]
        await broker.create("orders")


@on_virtual_time
async def test_a_broker_whose_only_directory_is_corrupt_ends_with_a_sentence() -> None:
    told = await refusal_of(disk_with(a="version=2\n"), {"log.dirs": "/data/a"})
    assert told.startswith("no log directory can be used (/data/a: /data/a/meta.properties")
    assert "version 2 is not known here, only 0 and 1" in told
