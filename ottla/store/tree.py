"""ZooKeeper's rules for a tree of nodes, wherever its nodes are kept (pure).

Whoever keeps them undoes a change that was refused half-way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, assert_never

from ottla.store.port import (
    ANY_VERSION,
    BadPath,
    BadVersion,
    Check,
    Create,
    Delete,
    Entry,
    EphemeralParent,
    NodeExists,
    NoNode,
    NotEmpty,
    Operation,
    Write,
)

ROOT = Entry("/", b"", version=0, czxid=0, mzxid=0, owner=0)

# As ZooKeeper: no empty name, none of one or two dots, no control or private characters, and none
# that takes more than 16 bits.
_PATH = re.compile(
    r"/|(?:/(?!\.{1,2}(?:/|\Z))[^/\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\U0010ffff]+)+"
)


def check_path(path: str) -> None:
    if _PATH.fullmatch(path) is None:
        raise BadPath(path)


def parent_of(path: str) -> str:
    return path.rpartition("/")[0] or "/"


@dataclass(slots=True)
class Changed:
    """Whom a change concerns: paths whose node, and paths whose list of children, is another."""

    data: dict[str, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)

    def add(self, more: Changed) -> None:
        self.data |= more.data
        self.children |= more.children

    def came_or_went(self, path: str) -> None:
        self.data[path] = None
        self.children[path] = None
        self.children[parent_of(path)] = None


class Nodes(Protocol):
    """Where the nodes are."""

    def find(self, path: str) -> Entry | None: ...

    def names(self, path: str) -> list[str]:
        """The names of its children, sorted."""

    def has_children(self, path: str) -> bool: ...

    def created_below(self, path: str) -> int:
        """How many children it ever had: the next sequential number."""

    def add(self, entry: Entry) -> None:
        """A new node; its parent, which is there, has had one child more."""

    def replace(self, entry: Entry) -> None: ...

    def remove(self, path: str) -> None: ...

    def owned_by(self, session_id: int) -> list[str]:
        """Its ephemeral nodes, sorted."""


def children(nodes: Nodes, path: str) -> list[str]:
    check_path(path)
    _existing(nodes, path)
    return nodes.names(path)


@dataclass(frozen=True, slots=True)
class Change:
    """One numbered change to the tree: what is asked in one request, by one session."""

    nodes: Nodes
    zxid: int
    session_id: int
    changed: Changed

    def make(self, operations: Sequence[Operation]) -> list[Entry | None]:
        return [self._apply(operation) for operation in operations]

    def end_session(self) -> None:
        for path in self.nodes.owned_by(self.session_id):
            self.nodes.remove(path)
            self.changed.came_or_went(path)

    def _apply(self, operation: Operation) -> Entry | None:
        check_path(operation.path)
        match operation:
            case Check(path, version):
                _at_version(self.nodes, path, version)
                return None
            case Create():
                return self._create(operation)
            case Write(path, data, version):
                return self._write(_at_version(self.nodes, path, version), data)
            case Delete(path, version):
                self._delete(_at_version(self.nodes, path, version))
                return None
            case _:
                assert_never(operation)

    def _create(self, create: Create) -> Entry:
        path, parent = create.path, parent_of(create.path)
        if path == "/":
            raise NodeExists(path)
        if _existing(self.nodes, parent).owner:
            raise EphemeralParent(parent)
        if create.sequential:
            path += f"{self.nodes.created_below(parent):010}"
        if self.nodes.find(path) is not None:
            raise NodeExists(path)
        owner = self.session_id if create.ephemeral else 0
        entry = Entry(path, create.data, 0, czxid=self.zxid, mzxid=self.zxid, owner=owner)
        self.nodes.add(entry)
        self.changed.came_or_went(path)
        return entry

    def _write(self, entry: Entry, data: bytes) -> Entry:
        entry = replace(entry, data=data, version=entry.version + 1, mzxid=self.zxid)
        self.nodes.replace(entry)
        self.changed.data[entry.path] = None
        return entry

    def _delete(self, entry: Entry) -> None:
        if entry.path == "/":
            raise BadPath("/")
        if self.nodes.has_children(entry.path):
            raise NotEmpty(entry.path)
        self.nodes.remove(entry.path)
        self.changed.came_or_went(entry.path)


def missing_parents(nodes: Nodes, path: str) -> list[Operation]:
    """What must be created before the node can be, the highest first."""
    check_path(path)
    missing = [Create(above, b"") for above in _above(path) if nodes.find(above) is None]
    return [*reversed(missing)]


def _above(path: str) -> Iterator[str]:
    while (path := parent_of(path)) != "/":
        yield path


def _existing(nodes: Nodes, path: str) -> Entry:
    entry = nodes.find(path)
    if entry is None:
        raise NoNode(path)
    return entry


def _at_version(nodes: Nodes, path: str, version: int) -> Entry:
    entry = _existing(nodes, path)
    if version not in (ANY_VERSION, entry.version):
        raise BadVersion(path)
    return entry
