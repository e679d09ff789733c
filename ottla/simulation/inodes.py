"""Files and folders twice: as the page cache shows them, and as a power cut would leave them.

The model is POSIX at its weakest that a journal still allows. A file keeps a prefix of its unsynced
changes. A folder keeps or loses each unsynced entry, but never a later change of a name without the
earlier ones, and a rename wholly or not at all.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

# A kernel writes back by itself after a while; here, so that memory is bounded.
MOST_UNSYNCED = 1_000


@dataclass(frozen=True, slots=True)
class Write:
    position: int
    data: bytes

    def apply(self, content: bytearray) -> None:
        if len(content) < self.position:
            content.extend(bytes(self.position - len(content)))
        content[self.position : self.position + len(self.data)] = self.data


@dataclass(frozen=True, slots=True)
class Resize:
    size: int

    def apply(self, content: bytearray) -> None:
        del content[self.size :]
        content.extend(bytes(self.size - len(content)))


class Inode:
    """A file's bytes. `folder` is None once it has no name any more."""

    def __init__(self, folder: Folder, name: str, content: bytes, modified_ms: int) -> None:
        self.folder: Folder | None = folder
        self.name = name
        self.modified_ms = modified_ms
        self.cached = bytearray(content)
        self.durable = bytearray(content)
        self._unsynced: list[Write | Resize] = []

    def change(self, change: Write | Resize) -> None:
        change.apply(self.cached)
        self._unsynced.append(change)
        if len(self._unsynced) > MOST_UNSYNCED:
            self._write_back(MOST_UNSYNCED // 2)

    def sync(self) -> None:
        self._write_back(len(self._unsynced))

    def _write_back(self, count: int) -> None:
        for change in self._unsynced[:count]:
            change.apply(self.durable)
        del self._unsynced[:count]

    def after_power_cut(self, chance: random.Random, *, garbage: bool) -> bytes:
        """What was synced and any prefix of the rest, the last change torn at any byte."""
        content = bytearray(self.durable)
        kept = _extreme_or_any(chance, len(self._unsynced))
        for change in self._unsynced[:kept]:
            change.apply(content)
        if kept < len(self._unsynced):
            torn = self._unsynced[kept]
            if isinstance(torn, Write):
                landed = chance.randint(0, len(torn.data))
                if landed:
                    Write(torn.position, torn.data[:landed]).apply(content)
        ahead = len(self.cached) - len(content)
        if ahead > 0 and chance.random() < 0.25:
            # The new size was written before the data it covers.
            count = chance.randint(1, ahead)
            content += chance.randbytes(count) if garbage else bytes(count)
        return bytes(content)


class Folder:
    """Names and what they stand for."""

    def __init__(self, folder: Folder | None, name: str, modified_ms: int) -> None:
        self.folder = folder
        self.name = name
        self.modified_ms = modified_ms
        self.cached: dict[str, Node] = {}
        self.durable: dict[str, Node] = {}


Node: TypeAlias = Inode | Folder


def path_of(node: Node) -> str:
    """As an absolute path; of a file that was removed, only its last name."""
    parts: list[str] = []
    at: Node | None = node
    while at is not None:
        parts.append(at.name)
        at = at.folder
    return "/".join(reversed(parts)) or "/"


@dataclass(frozen=True, slots=True, eq=False)
class EntryChange:
    """A node loses one name, gains one, or, renamed, both at once."""

    node: Node
    old: tuple[Folder, str] | None = None
    new: tuple[Folder, str] | None = None

    def places(self) -> Iterator[tuple[Folder, str]]:
        if self.old is not None:
            yield self.old
        if self.new is not None:
            yield self.new

    def apply(self, entries: Entries) -> None:
        if self.old is not None:
            entries.of(self.old[0]).pop(self.old[1], None)
        if self.new is not None:
            entries.of(self.new[0])[self.new[1]] = self.node


class Entries:
    """What the folders hold on the disk, or a copy of it to try what a power cut might leave."""

    def __init__(self, *, copied: bool) -> None:
        self._copies: dict[Folder, dict[str, Node]] | None = {} if copied else None

    def of(self, folder: Folder) -> dict[str, Node]:
        if self._copies is None:
            return folder.durable
        return self._copies.setdefault(folder, dict(folder.durable))


class Tree:
    """One file system: its root, and the changes of entries that no sync has made last yet."""

    def __init__(self) -> None:
        self.root = Folder(None, "", 0)
        self._unsynced: list[EntryChange] = []

    def used_bytes(self) -> int:
        return _used_bytes(self.root)

    def change(self, change: EntryChange) -> None:
        if change.old is not None:
            folder, name = change.old
            del folder.cached[name]
            change.node.folder = None
        if change.new is not None:
            folder, name = change.new
            if (replaced := folder.cached.get(name)) is not None:
                replaced.folder = None
            folder.cached[name] = change.node
            change.node.folder, change.node.name = folder, name
        self._unsynced.append(change)
        if len(self._unsynced) > MOST_UNSYNCED:
            for oldest in self._unsynced[: MOST_UNSYNCED // 2]:
                oldest.apply(Entries(copied=False))
            del self._unsynced[: MOST_UNSYNCED // 2]

    def sync(self, folder: Folder) -> None:
        """The folder's changes last, and those of other folders that they build upon."""
        concerned = {folder}
        needed: list[EntryChange] = []
        for change in reversed(self._unsynced):
            if any(place in concerned for place, _ in change.places()):
                concerned.update(place for place, _ in change.places())
                needed.append(change)
        for change in reversed(needed):
            change.apply(Entries(copied=False))
        self._unsynced = [change for change in self._unsynced if change not in needed]

    def after_power_cut(self, chance: random.Random, *, garbage: bool) -> Tree:
        """A new tree, so that one state can be cut again and again with other outcomes."""
        entries = Entries(copied=True)
        lost: set[tuple[Folder, str]] = set()
        keep_chance = chance.choice((0.0, 0.5, 1.0))
        for change in self._unsynced:
            places = list(change.places())
            is_possible = not any(place in lost for place in places)
            # A folder goes only after what was in it.
            if isinstance(change.node, Folder) and change.new is None:
                is_possible = is_possible and not entries.of(change.node)
            if is_possible and chance.random() < keep_chance:
                change.apply(entries)
            else:
                lost.update(places)
        tree = Tree()
        _rebuild(self.root, tree.root, entries, chance, garbage=garbage)
        return tree


def _rebuild(
    old: Folder, new: Folder, entries: Entries, chance: random.Random, *, garbage: bool
) -> None:
    for name, node in sorted(entries.of(old).items()):
        if isinstance(node, Folder):
            inner = Folder(new, name, node.modified_ms)
            _rebuild(node, inner, entries, chance, garbage=garbage)
            new.cached[name] = inner
        else:
            content = node.after_power_cut(chance, garbage=garbage)
            new.cached[name] = Inode(new, name, content, node.modified_ms)
    new.durable = dict(new.cached)


def _used_bytes(node: Node) -> int:
    if isinstance(node, Inode):
        return len(node.cached)
    return sum(map(_used_bytes, node.cached.values()))


def _extreme_or_any(chance: random.Random, most: int) -> int:
    """Nothing and everything are as likely as all between them: that is where bugs are."""
    return chance.choice((0, most, chance.randint(0, most)))
