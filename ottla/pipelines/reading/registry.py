"""Where schemas are kept: a registry that speaks Confluent's HTTP, or a folder of files.

Each process asks once for what it needs; a schema that has an id never changes. A folder holds the
versions of one subject as ID.avsc, ID.proto, or ID.desc: the highest id is the latest.
"""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, unquote, urlsplit, urlunsplit

AVRO, PROTOBUF = "AVRO", "PROTOBUF"
_KINDS = {".avsc": AVRO, ".proto": PROTOBUF, ".desc": PROTOBUF, ".binpb": PROTOBUF}
_TIMEOUT_S = 10.0
_WAITS_S = (0.5, 2.0, 5.0)  # before each try but the first
_NOT_FOUND = 404
_CONTENT = "application/vnd.schemaregistry.v1+json"


class RegistryAway(Exception):
    """It did not answer, though it was asked again."""


class RegistryRefused(Exception):
    """It answered, but not with what is needed; the message says what to do."""


class Registered(NamedTuple):
    id: int
    kind: str  # AVRO or PROTOBUF
    schema: bytes  # text, or a set of descriptors
    references: tuple[tuple[str, str], ...] = ()  # names and texts, those first that others need


class Registry(Protocol):
    def schema(self, id: int) -> Registered | None: ...
    def latest(self, subject: str) -> Registered: ...
    def register(self, subject: str, *, kind: str, schema: str) -> int:
        """Its id, be it new or known already."""
        ...


@cache
def open_registry(place: str) -> Registry:
    """The one of this process, with what it knows already."""
    if urlsplit(place).scheme in ("http", "https"):
        return HttpRegistry(place)
    return FolderRegistry(place)


class HttpRegistry:
    def __init__(self, url: str, *, wait: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(url)
        self._headers = {"Accept": _CONTENT, "Content-Type": _CONTENT}
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            encoded = base64.b64encode(login.encode()).decode()
            self._headers["Authorization"] = f"Basic {encoded}"
        host = parts.netloc.rpartition("@")[2]
        self._url = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
        self._wait = wait
        self._known: dict[int, Registered] = {}

    def schema(self, id: int) -> Registered | None:
        if id not in self._known:
            answer = self._ask(f"/schemas/ids/{id}")
            if answer is None:  # somebody may yet register it
                return None
            self._known[id] = self._registered(id, answer)
        return self._known[id]

    def latest(self, subject: str) -> Registered:
        answer = self._ask(f"/subjects/{quote(subject, safe='')}/versions/latest")
        if answer is None:
            raise RegistryRefused(f"{self._url} has no subject {subject!r}: register its schema")
        return self._registered(answer["id"], answer)

    def register(self, subject: str, *, kind: str, schema: str) -> int:
        body = {"schema": schema, "schemaType": kind}
        answer = self._ask(f"/subjects/{quote(subject, safe='')}/versions", body)
        assert answer is not None, "a subject is made by the first schema of it"
        return int(answer["id"])

    def _registered(self, id: int, answer: Mapping[str, Any]) -> Registered:
        kind = answer.get("schemaType", AVRO)
        found = dict(self._references(answer))
        return Registered(id, kind, answer["schema"].encode(), tuple(found.items()))

    def _references(self, answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for reference in answer.get("references") or ():
            subject = quote(reference["subject"], safe="")
            needed = self._ask(f"/subjects/{subject}/versions/{reference['version']}")
            if needed is None:
                raise RegistryRefused(f"{self._url} lacks {reference['subject']!r}, which is used")
            yield from self._references(needed)
            yield reference["name"], needed["schema"]

    def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """None: there is no such thing."""
        for wait_s in (*_WAITS_S, None):
            try:
                return self._asked_once(path, body)
            except (OSError, json.JSONDecodeError) as cause:
                if wait_s is None:
                    raise RegistryAway(f"the registry at {self._url} is away: {cause}") from cause
                self._wait(wait_s)
        raise AssertionError("the last try ends it")

    def _asked_once(self, path: str, body: Mapping[str, Any] | None) -> dict[str, Any] | None:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._url}{path}", data, self._headers)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as refusal:
            with refusal:
                if refusal.code == _NOT_FOUND:
                    return None
                if refusal.code < 500:
                    said = refusal.read().decode(errors="replace")[:300]
                    sentence = f"{self._url}{path} refused ({refusal.code}): {said}"
                    raise RegistryRefused(sentence) from refusal
                raise


class FolderRegistry:
    def __init__(self, path: str) -> None:
        self._folder = Path(path)
        if not self._folder.is_dir():
            raise RegistryRefused(f"{path} is neither the URL of a registry nor a folder")

    def _files(self) -> dict[int, Path]:
        return {
            int(path.stem): path
            for path in sorted(self._folder.iterdir())
            if path.stem.isdecimal() and path.suffix in _KINDS
        }

    def schema(self, id: int) -> Registered | None:
        path = self._files().get(id)
        return None if path is None else Registered(id, _KINDS[path.suffix], path.read_bytes())

    def latest(self, subject: str) -> Registered:
        if not (ids := self._files()):
            raise RegistryRefused(f"{self._folder} has no schema: write it to 1.avsc or 1.proto")
        found = self.schema(max(ids))
        assert found is not None, "it was just listed"
        return found

    def register(self, subject: str, *, kind: str, schema: str) -> int:
        for id, path in self._files().items():
            if _KINDS[path.suffix] == kind and _same(path.read_text(), schema):
                return id
        raise RegistryRefused(f"{self._folder} does not have this schema: add it as a file")


def _same(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except json.JSONDecodeError:
        return one.split() == other.split()
