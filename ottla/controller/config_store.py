"""Dynamic configs in the store: of topics, brokers, users, clients and addresses.

Whoever changes one leaves a notification; every broker watches those and reads the entity anew.
An entity is named as in its path: `topics/orders`, `users/alice/clients/<default>`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

from ottla.store import paths
from ottla.store.fields import MalformedNode
from ottla.store.port import (
    BadVersion,
    Create,
    Delete,
    Entry,
    MetadataStore,
    NodeExists,
    NoNode,
    NotEmpty,
    Operation,
    StoreError,
    Write,
)
from ottla.store.znodes import Config, ConfigChange
from ottla.timing.survival import survived

NOTIFICATIONS_LAST_MS = 15 * 60 * 1000
RETRY_BACKOFF_SECONDS = 0.1
# There may be many of them, so that those of whom nothing is said any more leave no node.
_REMOVED_WHEN_EMPTY = ("users", "clients", "ips")

log = logging.getLogger(__name__)

Values = dict[str, str]
Edit = Callable[[Values], Mapping[str, str]]
Changed = Callable[[str, str, Values], None]


class Clock(Protocol):
    def now_ms(self) -> int: ...


class ConfigStore:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    async def read(self, entity: str) -> Values:
        """What was set for the entity itself; nothing if nothing was."""
        values, _ = await self._read(entity)
        return values

    async def change(self, entity: str, edit: Edit) -> Values:
        """Writes what `edit` makes of the values, and lets every broker know.

        If somebody changes them at the same moment, `edit` is asked again.
        """
        path = paths.config(entity)
        keeps_empty = entity.partition("/")[0] not in _REMOVED_WHEN_EMPTY
        change = Create(paths.CONFIG_CHANGE, ConfigChange(entity).encode(), sequential=True)
        while True:
            before, version = await self._read(entity)
            after = dict(edit(dict(before)))
            try:
                if after or keeps_empty:
                    await self._store.multi([_written(path, after, version), change])
                else:
                    await self._store.multi([*_removed(path, version), change])
                    await self._remove_above(entity)
            except (BadVersion, NodeExists):
                continue
            except NotEmpty:
                keeps_empty = True  # a user whose clients have values of their own
            except NoNode:
                await self._create_above(path)
            else:
                return after

    async def entities(self) -> list[str]:
        """All that have a node, types in Kafka's order."""
        found: list[str] = []
        for entity_type in paths.CONFIG_TYPES:
            for name in await self._names(entity_type):
                entity = f"{entity_type}/{name}"
                found.append(entity)
                if entity_type == "users":
                    clients = f"{entity}/clients"
                    found += [f"{clients}/{client}" for client in await self._names(clients)]
        return found

    async def _read(self, entity: str) -> tuple[Values, int | None]:
        path = paths.config(entity)
        entry = await self._store.read(path)
        if entry is None:
            return {}, None
        # A node without data is there only because of those below it.
        values = dict(Config.decode(entry.data, path).values) if entry.data else {}
        return values, entry.version

    async def _create_above(self, path: str) -> None:
        for needed in (path.rpartition("/")[0], paths.CONFIG_CHANGES):
            if await self._store.read(needed) is None:
                try:
                    await self._store.create(needed, parents=True)
                except NodeExists:
                    continue

    async def _remove_above(self, entity: str) -> None:
        """Of a user without values of its own nothing stays when its last client goes."""
        user, clients, _ = entity.rpartition("/clients/")
        if not clients:
            return
        with suppress(BadVersion, NoNode, NotEmpty):
            await self._store.delete(paths.config(f"{user}/clients"))
            values, version = await self._read(user)
            if not values and version is not None:
                await self._store.delete(paths.config(user), expect_version=version)

    async def _names(self, below: str) -> list[str]:
        try:
            return await self._store.children(paths.config(below))
        except NoNode:
            return []


def _written(path: str, values: Values, version: int | None) -> Operation:
    data = Config(values).encode()
    return Create(path, data) if version is None else Write(path, data, version)


def _removed(path: str, version: int | None) -> list[Operation]:
    return [] if version is None else [Delete(path, version)]


def _named(notification: Entry) -> dict[str, None]:
    """The entity; none if nobody can tell which, for all that come later would wait for it."""
    try:
        change = ConfigChange.decode(notification.data, notification.path)
    except MalformedNode as error:
        log.error("a notification of a config change is skipped: %s", error)
        return {}
    return {change.entity_path: None}


class ConfigWatcher:
    """Tells `changed(entity_type, name, values)` for all entities at first, then for each change.

    A notification is removed a quarter of an hour after this broker has seen it: by then all have.
    """

    def __init__(self, store: MetadataStore, changed: Changed, clock: Clock) -> None:
        self._store = store
        self._configs = ConfigStore(store)
        self._changed = changed
        self._clock = clock
        self._seen_ms: dict[str, int] = {}
        self._due = asyncio.Event()
        self._watch = store.watch_children(paths.CONFIG_CHANGES, self._due.set)

    async def load(self) -> None:
        """At start: the notifications there are tell of nothing that is not read here."""
        for name in await self._notifications():
            self._seen_ms[name] = self._clock.now_ms()
        for entity in await self._configs.entities():
            await self._tell(entity)

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            while True:
                await self._due.wait()
                self._due.clear()
                try:
                    await self.look()
                except StoreError as error:
                    log.warning("config changes cannot be read: %s; trying again", error)
                    self._due.set()
                    await asyncio.sleep(RETRY_BACKOFF_SECONDS)
        finally:
            self._watch.cancel()

    async def look(self) -> None:
        """Reads what the new notifications name, each entity once, and drops the old ones."""
        names = await self._notifications()
        entities: dict[str, None] = {}
        new = [name for name in names if name not in self._seen_ms]
        for name in new:
            path = f"{paths.CONFIG_CHANGES}/{name}"
            if entry := await self._store.read(path):
                entities |= _named(entry)
        for entity in entities:
            await self._tell_or_skip(entity)
        # Only now: had the store failed half-way, they would be read again.
        now_ms = self._clock.now_ms()
        self._seen_ms = {name: self._seen_ms.get(name, now_ms) for name in names}
        await self._purge(now_ms)

    async def _tell_or_skip(self, entity: str) -> None:
        """What is wrong with one entity must not keep the others from being heard."""
        try:
            await survived(self._tell(entity), f"the change of {entity}", known=(StoreError,))
        except MalformedNode as error:
            log.error("the change of %s is skipped: %s", entity, error)

    async def _tell(self, entity: str) -> None:
        entity_type, _, name = entity.partition("/")
        self._changed(entity_type, name, await self._configs.read(entity))

    async def _purge(self, now_ms: int) -> None:
        for name, seen_ms in list(self._seen_ms.items()):
            if now_ms - seen_ms >= NOTIFICATIONS_LAST_MS:
                try:
                    await self._store.delete(f"{paths.CONFIG_CHANGES}/{name}")
                except NoNode:
                    continue  # another broker was faster

    async def _notifications(self) -> list[str]:
        try:
            return await self._store.children(paths.CONFIG_CHANGES)
        except NoNode:
            return []
