"""Confluent's wire format: a zero byte and the id of the schema, in front of what it describes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ottla.pipelines.reading.evolution import Change, diff
from ottla.pipelines.reading.registry import Registered, open_registry
from ottla.pipelines.reading.stopping import RuleStopsPipeline, SchemaIsWider

HEADER_SIZE = 5
SCHEMA = "schema"  # the rule that a writer breaks whose rows cannot be ours
_FIX = "Give the pipeline the new schema, or have it take the latest of its subject"
_HEADER = struct.Struct(">BI")


def header(id: int) -> bytes:
    return _HEADER.pack(0, id)


def schema_id(value: bytes) -> int:
    if len(value) < HEADER_SIZE:
        raise ValueError(f"{len(value)} bytes, too few for the id of a schema")
    magic, id = _HEADER.unpack_from(value)
    if magic != 0:
        raise ValueError(f"the first byte is {magic:#04x}, not the 0 that a schema's id follows")
    return int(id)


def registered(registry: str, id: int, *, kind: str) -> Registered:
    found = open_registry(registry).schema(id)
    if found is None:
        raise ValueError(f"the registry has no schema {id}")
    if found.kind != kind:
        raise ValueError(f"schema {id} is {found.kind}, not {kind}")
    return found


def stop_if_breaking(found: Sequence[Change], *, id: int) -> None:
    """What is wider than ours stops, too, but for the runner to go on with the new schema."""
    begin = f"records are written with schema {id}, which"
    if any(change.is_breaking for change in found):
        raise RuleStopsPipeline(
            SCHEMA, f"{begin} cannot be read as the pipeline's own:\n{diff(found)}\n{_FIX}"
        )
    if any(change.is_wider for change in found):
        raise SchemaIsWider(
            f"{SCHEMA}: {begin} is wider than the pipeline's own:\n{diff(found)}\n{_FIX}"
        )
