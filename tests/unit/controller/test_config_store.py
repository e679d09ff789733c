"""Dynamic configs: Kafka's bytes, notifications, and brokers that hear of every change."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from ottla.controller.config_store import NOTIFICATIONS_LAST_MS, ConfigStore, ConfigWatcher
from ottla.controller.registration import create_roots
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store import paths
from ottla.store.fields import MalformedNode
from tests.unit.controller.cluster import StoppedClock


class Heard:
    def __init__(self) -> None:
        self.changes: list[tuple[str, str, dict[str, str]]] = []
        self.arrived = asyncio.Event()

    def __call__(self, entity_type: str, name: str, values: dict[str, str]) -> None:
        self.changes.append((entity_type, name, values))
        self.arrived.set()


async def _store() -> MemoryStore:
    store = MemoryStore(MemoryTree())
    await create_roots(store)
    return store


def _with(before: dict[str, str], *, key: str, value: str) -> dict[str, str]:
    return {**before, key: value}


def test_a_change_is_written_with_its_notification() -> None:
    async def scenario() -> None:
        store = await _store()
        configs = ConfigStore(store)
        await configs.change("topics/plain", lambda _: {"retention.ms": "4000000000000"})
        await configs.change("topics/plain", lambda before: {**before, "a": "b"})
        assert await configs.read("topics/plain") == {"retention.ms": "4000000000000", "a": "b"}
        assert await store.children(paths.CONFIG_CHANGES) == [
            "config_change_0000000000",
            "config_change_0000000001",
        ]
        entry = await store.read("/config/changes/config_change_0000000000")
        assert entry is not None
        assert entry.data == b'{"version":2,"entity_path":"topics/plain"}'

    asyncio.run(scenario())


def test_changes_of_the_same_moment_are_both_kept() -> None:
    async def scenario() -> None:
        configs = ConfigStore(await _store())
        await asyncio.gather(
            *(configs.change("brokers/0", partial(_with, key=key, value="1")) for key in "abc")
        )
        assert await configs.read("brokers/0") == {"a": "1", "b": "1", "c": "1"}

    asyncio.run(scenario())


def test_a_client_of_a_user_gets_the_nodes_above_it() -> None:
    async def scenario() -> None:
        store = await _store()
        configs = ConfigStore(store)
        entity = "users/alice/clients/<default>"
        await configs.change(entity, lambda _: {"producer_byte_rate": "1"})
        assert await configs.read(entity) == {"producer_byte_rate": "1"}
        assert await configs.read("users/alice") == {}
        assert await configs.entities() == ["users/alice", entity]

    asyncio.run(scenario())


def test_users_clients_and_addresses_without_values_leave_no_node() -> None:
    async def scenario() -> None:
        store = await _store()
        configs = ConfigStore(store)
        alices = "users/alice/clients/app"
        for entity in ("topics/orders", "brokers/0", "users/alice", alices, "ips/1.2.3.4"):
            await configs.change(entity, lambda _: {"a": "b"})
        await configs.change("users/alice", lambda _: {})
        assert await configs.read("users/alice") == {}
        assert "users/alice" in await configs.entities()  # for a client of hers is below it
        for entity in ("topics/orders", "brokers/0", alices, "ips/1.2.3.4", "clients/never"):
            await configs.change(entity, lambda _: {})
        assert await configs.entities() == ["topics/orders", "brokers/0"]

    asyncio.run(scenario())


def test_a_user_with_values_stays_when_its_last_client_goes() -> None:
    async def scenario() -> None:
        configs = ConfigStore(await _store())
        for entity in ("users/alice", "users/alice/clients/app"):
            await configs.change(entity, lambda _: {"a": "b"})
        await configs.change("users/alice/clients/app", lambda _: {})
        assert await configs.entities() == ["users/alice"]

    asyncio.run(scenario())


def test_every_broker_hears_of_all_at_start_and_of_changes_after() -> None:
    async def scenario() -> None:
        store = await _store()
        configs = ConfigStore(store)
        await configs.change("topics/plain", lambda _: {"a": "1"})
        heard = Heard()
        watcher = ConfigWatcher(store, heard, StoppedClock())
        await watcher.load()
        assert heard.changes == [("topics", "plain", {"a": "1"})]
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watcher.run())
            heard.arrived.clear()
            await configs.change("users/alice/clients/x", lambda _: {"b": "2"})
            await heard.arrived.wait()
            assert heard.changes[1:] == [("users", "alice/clients/x", {"b": "2"})]
            watching.cancel()

    asyncio.run(scenario())


def test_many_changes_of_one_entity_are_read_once() -> None:
    async def scenario() -> None:
        store = await _store()
        heard = Heard()
        watcher = ConfigWatcher(store, heard, StoppedClock())
        await watcher.load()
        for number in range(5):
            edit = partial(_with, key="n", value=str(number))
            await ConfigStore(store).change("topics/t", edit)
        await watcher.look()
        await watcher.look()
        assert heard.changes == [("topics", "t", {"n": "4"})]

    asyncio.run(scenario())


def test_notifications_go_after_a_quarter_of_an_hour() -> None:
    async def scenario() -> None:
        store = await _store()
        clock = StoppedClock()
        watcher = ConfigWatcher(store, Heard(), clock)
        await ConfigStore(store).change("topics/t", lambda _: {})
        await watcher.look()
        clock.at_ms += NOTIFICATIONS_LAST_MS - 1
        await ConfigStore(store).change("topics/t", lambda _: {})
        await watcher.look()
        assert len(await store.children(paths.CONFIG_CHANGES)) == 2
        clock.at_ms += 1
        await watcher.look()
        assert await store.children(paths.CONFIG_CHANGES) == ["config_change_0000000001"]

    asyncio.run(scenario())


def test_an_old_notification_is_understood() -> None:
    async def scenario() -> None:
        store = await _store()
        heard = Heard()
        watcher = ConfigWatcher(store, heard, StoppedClock())
        old = b'{"version":1,"entity_type":"topics","entity_name":"t"}'
        await store.create(paths.CONFIG_CHANGE, old, sequential=True)
        await watcher.look()
        assert heard.changes == [("topics", "t", {})]

    asyncio.run(scenario())


def test_what_cannot_be_told_does_not_hold_up_the_other_changes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        store = await _store()
        heard = Heard()

        def careless(entity_type: str, name: str, values: dict[str, str]) -> None:
            assert name != "first", "a bug"
            heard(entity_type, name, values)

        watcher = ConfigWatcher(store, careless, StoppedClock())
        for name in ("first", "second"):
            await ConfigStore(store).change(f"topics/{name}", lambda _: {"a": "b"})
        await watcher.look()
        await watcher.look()
        assert heard.changes == [("topics", "second", {"a": "b"})]

    asyncio.run(scenario())
    assert caplog.text.count("AssertionError: a bug") == 1


def test_a_notification_that_nobody_understands_is_skipped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        store = await _store()
        heard = Heard()
        clock = StoppedClock()
        watcher = ConfigWatcher(store, heard, clock)
        for malformed in (b"", b"{", b'{"version":9}', b'{"version":2,"entity_path":7}'):
            await store.create(paths.CONFIG_CHANGE, malformed, sequential=True)
        await ConfigStore(store).change("topics/orders", lambda _: {"a": "b"})
        for _ in range(2):
            await watcher.look()
        assert heard.changes == [("topics", "orders", {"a": "b"})]
        clock.at_ms += NOTIFICATIONS_LAST_MS
        await watcher.look()
        assert await store.children(paths.CONFIG_CHANGES) == []

    asyncio.run(scenario())
    assert caplog.text.count("is skipped") == 4


def test_values_that_nobody_understands_leave_the_old_ones_in_force(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        store = await _store()
        heard = Heard()
        watcher = ConfigWatcher(store, heard, StoppedClock())
        for name in ("first", "second"):
            await ConfigStore(store).change(f"topics/{name}", lambda _: {"a": "b"})
        await store.write(paths.config("topics/first"), b"{")
        await watcher.look()
        assert heard.changes == [("topics", "second", {"a": "b"})]
        with pytest.raises(MalformedNode):  # at a start there are no old ones
            await watcher.load()

    asyncio.run(scenario())
    assert "the change of topics/first is skipped" in caplog.text
