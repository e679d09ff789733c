"""The port to the cluster's truth: a small tree of nodes, with ZooKeeper's rules.

A version counts the writes to a node, from 0. The czxid is the change that created it, the mzxid
the one that wrote it last; changes are numbered for the whole tree, so a later one is greater.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

ANY_VERSION = -1


@dataclass(frozen=True, slots=True)
class Entry:
    """A node as it was read; `owner` is the session that an ephemeral node goes with, else 0."""

    path: str
    data: bytes
    version: int
    czxid: int
    mzxid: int
    owner: int


@dataclass(frozen=True, slots=True)
class Check:
    path: str
    version: int


@dataclass(frozen=True, slots=True)
class Create:
    path: str
    data: bytes
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    path: str
    version: int = ANY_VERSION


Operation: TypeAlias = Check | Create | Write | Delete


class StoreError(Exception):
    """Why the store did not do what it was asked."""


class StoreUnavailable(StoreError):
    """No answer, or a failing disk. Whether the change was made is not known."""


class SessionLost(StoreError):
    """The session ended before the request was done; its ephemeral nodes are gone."""

    def __init__(self, session_id: int) -> None:
        super().__init__(f"session {session_id} of the metadata store has ended")
        self.session_id = session_id


class NodeError(StoreError):
    """The node is not as the request needs it. Nothing has changed."""

    reason: ClassVar[str]

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: {self.reason}")
        self.path = path


class NoNode(NodeError):
    reason = "there is no such node"


class NodeExists(NodeError):
    reason = "the node exists already"


class BadVersion(NodeError):
    reason = "the node has another version than expected"


class NotEmpty(NodeError):
    reason = "the node has children"


class EphemeralParent(NodeError):
    reason = "an ephemeral node cannot have children"


class BadPath(NodeError):
    reason = "not the path of a node, which is like /brokers/ids"


class Watch(Protocol):
    def cancel(self) -> None:
        """From now on it is not called, not even for what has changed already."""


class MetadataStore(Protocol):
    """Small on purpose: `embedded.py`, the simulated one and ZooKeeper must all keep it.

    A watch is called on the loop, after the await of the change that caused it has returned; once
    for many changes if they come close together. Begin to watch, then read: so nothing is missed.

    When its session is lost, a store begins the next by itself: requests under way raise
    `SessionLost`, `session_id` is a new one, watches stay and are all called, and whoever asked
    `on_session_lost` is told.
    """

    @property
    def session_id(self) -> int: ...

    async def read(self, path: str) -> Entry | None: ...

    async def children(self, path: str) -> list[str]:
        """Their names, sorted; `NoNode` if the node itself is not there."""

    async def create(
        self,
        path: str,
        data: bytes = b"",
        *,
        ephemeral: bool = False,
        sequential: bool = False,
        parents: bool = False,
    ) -> Entry:
        """A sequential node has ten digits after its path; with `parents` missing ones are made."""

    async def write(
        self, path: str, data: bytes, *, expect_version: int = ANY_VERSION
    ) -> Entry: ...

    async def delete(self, path: str, *, expect_version: int = ANY_VERSION) -> None: ...

    async def multi(self, operations: Sequence[Operation]) -> list[Entry | None]:
        """All or nothing, each seeing those before it; the entry for each create and write."""

    def watch(self, path: str, on_change: Callable[[], None]) -> Watch:
        """Call when the node is created, written or deleted. It need not exist yet."""

    def watch_children(self, path: str, on_change: Callable[[], None]) -> Watch:
        """Call when a child comes or goes, or the node itself. It need not exist yet."""

    def on_session_lost(self, callback: Callable[[], None]) -> None: ...

    async def close(self) -> None:
        """End the session: our ephemeral nodes go, and later requests raise `SessionLost`."""
