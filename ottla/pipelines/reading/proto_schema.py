"""Descriptors of Protobuf: from files, from sets, from a registry; and what rows they describe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from ottla.pipelines.reading import proto_source
from ottla.pipelines.reading.registry import Registered
from ottla.pipelines.reading.rows import Unreadable

MAIN = "main.proto"  # the name of a file that comes without one
_KNOWN = {
    module.DESCRIPTOR.name: module.DESCRIPTOR.serialized_pb
    for module in (
        any_pb2, descriptor_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2,
        timestamp_pb2, wrappers_pb2,
    )
}  # fmt: skip
_File: Any = descriptor_pb2.FileDescriptorProto  # which has no types


class ProtobufSchema:
    """The files that a registered schema consists of, the one that it is about at the end."""

    def __init__(self, written: Registered) -> None:
        try:
            files = list(_files(written))
            self._pool = _pool(files)
        except (ValueError, TypeError, DecodeError) as cause:
            raise Unreadable(f"this is no schema of Protobuf: {cause}") from cause
        self._main = files[-1]

    def message(self, name: str) -> Any:
        try:
            return self._pool.FindMessageTypeByName(name)
        except KeyError as cause:
            known = ", ".join(_names(self._main.message_type, self._main.package))
            raise Unreadable(
                f"there is no message {name!r} in this schema; it has: {known}"
            ) from cause

    def message_class(self, name: str) -> Any:
        return GetMessageClass(self.message(name))

    def name_at(self, indexes: Iterable[int]) -> str:
        """Of the message with these places in the file and in those around it."""
        names, messages = [self._main.package] * bool(self._main.package), self._main.message_type
        for index in indexes:
            if not 0 <= index < len(messages):
                raise ValueError(f"its schema has no message at {index}")
            names.append(messages[index].name)
            messages = messages[index].nested_type
        return ".".join(names)

    def indexes_of(self, name: str) -> list[int]:
        indexes, messages = [], self._main.message_type
        for part in name.removeprefix(f"{self._main.package}.").split("."):
            at = [message.name for message in messages].index(part)
            indexes.append(at)
            messages = messages[at].nested_type
        return indexes


def _names(messages: Iterable[Any], prefix: str) -> list[str]:
    return [f"{prefix}.{message.name}".lstrip(".") for message in messages]


def _files(written: Registered) -> Iterator[Any]:
    """A set of descriptors begins with a tag that no text can begin with and be read as a set."""
    for name, text in written.references:
        yield proto_source.parse(text, name)
    found = descriptor_pb2.FileDescriptorSet()
    try:
        found.ParseFromString(written.schema)
    except DecodeError:
        found.Clear()
    if found.file and all(file.name for file in found.file):
        yield from found.file
    else:
        yield proto_source.parse(written.schema.decode(), MAIN)


def _pool(files: Iterable[Any]) -> DescriptorPool:
    pool = DescriptorPool()
    added: dict[str, None] = {}
    for file in files:
        for name in file.dependency:
            _add_known(pool, name, added)
        # Of what else is imported, say for options, nothing may be needed; if it is, we will hear.
        kept = [name for name in file.dependency if name in added]
        public = [
            kept.index(file.dependency[index])
            for index in file.public_dependency
            if file.dependency[index] in kept
        ]
        whole = _File()
        whole.CopyFrom(file)
        whole.ClearField("dependency")
        whole.ClearField("public_dependency")
        whole.ClearField("weak_dependency")
        whole.dependency.extend(kept)
        whole.public_dependency.extend(public)
        if file.name not in added:
            pool.AddSerializedFile(whole.SerializeToString())
            added[file.name] = None
    return pool


def _add_known(pool: DescriptorPool, name: str, added: dict[str, None]) -> None:
    if name in _KNOWN and name not in added:
        pool.AddSerializedFile(_KNOWN[name])
        added[name] = None


def files_of(path: str, read: Callable[[str], bytes]) -> Registered:
    """A .proto file with all that it imports from the folders around it, or a set."""
    data = read(path)
    if not path.endswith(".proto"):
        return Registered(0, "PROTOBUF", data)
    found: dict[str, str] = {}
    _import(data.decode(), Path(path), found, read)
    return Registered(0, "PROTOBUF", data, tuple(found.items()))


def _import(text: str, path: Path, found: dict[str, str], read: Callable[[str], bytes]) -> None:
    for name in proto_source.parse(text, path.name).dependency:
        near = next((folder / name for folder in path.parents if (folder / name).is_file()), None)
        if name not in found and name not in _KNOWN and near is not None:
            inner = read(str(near)).decode()
            _import(inner, near, found, read)
            found[name] = inner
