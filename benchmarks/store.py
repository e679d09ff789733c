"""A thousand topics in the embedded store, beside as many bare fsyncs as it has transactions."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time

from ottla.store import paths
from ottla.store.embedded import EmbeddedStore, EmbeddedTree
from ottla.store.port import Create
from ottla.store.znodes import Config, PartitionState, TopicAssignment

TOPICS = 1_000
MUST_SECONDS = 1.0
MUST_OPEN_MS = 20.0


def main() -> None:
    folder = tempfile.mkdtemp(prefix="ottla-bench-")
    try:
        asyncio.run(_measure(f"{folder}/metadata.db"))
    finally:
        shutil.rmtree(folder)


async def _measure(path: str) -> None:
    tree = EmbeddedTree(path)
    store = EmbeddedStore(tree)
    for root in paths.PERSISTENT_ROOTS:
        await store.create(root, parents=True)
    before, start = tree.commits, time.perf_counter()
    await asyncio.gather(*(_create_topic(store, f"topic-{n}") for n in range(TOPICS)))
    took, commits = time.perf_counter() - start, tree.commits - before
    verdict = "ok" if took <= MUST_SECONDS else "MISSED"
    print(f"{TOPICS:,} topics at once: {took:.2f} s, at most {MUST_SECONDS:g}: {verdict}")
    print(f"  {commits} transactions; as many bare fsyncs: {_fsyncs(path, commits):.3f} s")
    start = time.perf_counter()
    for number in range(100):
        await _create_topic(store, f"alone-{number}")
    print(f"100 topics one by one: {time.perf_counter() - start:.2f} s")
    await tree.close()
    start = time.perf_counter()
    tree = EmbeddedTree(path)
    opened_ms = (time.perf_counter() - start) * 1e3
    verdict = "ok" if opened_ms <= MUST_OPEN_MS else "MISSED"
    print(f"opened again: {opened_ms:.1f} ms, at most {MUST_OPEN_MS:g}: {verdict}")
    await tree.close()


async def _create_topic(store: EmbeddedStore, name: str) -> None:
    """The nodes of a topic with one partition, in the order in which Kafka writes them."""
    await store.create(paths.config(f"topics/{name}"), Config({}).encode())
    await store.create(paths.topic(name), TopicAssignment({0: (0,)}, bytes(16)).encode())
    state = PartitionState(leader=0, leader_epoch=0, isr=(0,), controller_epoch=1)
    await store.multi(
        [
            Create(paths.partitions(name), b""),
            Create(paths.partition(name, 0), b""),
            Create(paths.partition_state(name, 0), state.encode()),
        ]
    )


def _fsyncs(path: str, count: int) -> float:
    with open(f"{path}.bare", "wb") as file:
        start = time.perf_counter()
        for _ in range(count):
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
