"""What the folders and files of a log directory are called, and what their names tell."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

LONGEST_NAME = 255  # what common file systems allow
_LARGEST_PARTITION = 0x7FFF_FFFF
_LARGEST_OFFSET = 0x7FFF_FFFF_FFFF_FFFF

_TOPIC = re.compile(r"[A-Za-z0-9._-]+")
_NUMBER = re.compile(r"[0-9]{1,10}")
_TAG = re.compile(r"[0-9a-f]{32}")
_SEGMENT_FILE = re.compile(r"([0-9]{20})(\.[a-z]+)(\.[a-z]+)?")


class BadName(ValueError):
    """A name that no folder or file of a log has; the message says why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name!r}: {reason}")
        self.name = name
        self.reason = reason


class Fate(Enum):
    """What is to become of a partition's folder; the value is its suffix."""

    LIVE = ""
    DELETE = "-delete"  # to be removed when nobody reads it any more
    FUTURE = "-future"  # a copy catching up, to replace the one in another log directory
    STRAY = "-stray"  # not assigned to this broker any more; kept for the operator


class FolderName(NamedTuple):
    """`topic-partition`, with `.<32 hex digits>-delete` and the like unless it is live."""

    topic: str
    partition: int
    fate: Fate = Fate.LIVE
    tag: str = ""

    def __str__(self) -> str:
        suffix = f"-{self.partition}"
        if self.fate is not Fate.LIVE:
            suffix += f".{self.tag}{self.fate.value}"
        if self.fate in (Fate.DELETE, Fate.STRAY):
            # Nobody looks for such a folder by its topic, so the topic gives way.
            return self.topic[: LONGEST_NAME - len(suffix)] + suffix
        return self.topic + suffix


def parse_folder_name(name: str) -> FolderName:
    live, fate, tag = name, Fate.LIVE, ""
    for candidate in (Fate.DELETE, Fate.FUTURE, Fate.STRAY):
        if name.endswith(candidate.value):
            live, dot, tag = name.removesuffix(candidate.value).rpartition(".")
            fate = candidate
            if not dot or not _TAG.fullmatch(tag):
                raise BadName(name, f"no 32 hexadecimal digits before {fate.value}")
    topic, dash, number = live.rpartition("-")
    if not dash or not _NUMBER.fullmatch(number) or int(number) > _LARGEST_PARTITION:
        raise BadName(name, "no partition number at the end")
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise BadName(name, "no topic can be called so")
    return FolderName(topic, int(number), fate, tag)


class Kind(Enum):
    """What a file of a segment holds; the value is its suffix."""

    LOG = ".log"
    OFFSET_INDEX = ".index"
    TIME_INDEX = ".timeindex"
    TRANSACTION_INDEX = ".txnindex"
    PRODUCERS = ".snapshot"


class Stage(Enum):
    """Where a file is between being made and being gone; the value is a second suffix."""

    PRESENT = ""
    CLEANED = ".cleaned"  # compaction is still writing it
    SWAP = ".swap"  # complete, about to replace its sources
    DELETED = ".deleted"  # to be removed when nobody reads it any more


class FileName(NamedTuple):
    """A segment's base offset (of a snapshot, the offset up to which it holds) and its suffixes."""

    offset: int
    kind: Kind
    stage: Stage = Stage.PRESENT

    def __str__(self) -> str:
        return f"{self.offset:020d}{self.kind.value}{self.stage.value}"


_KINDS = {kind.value: kind for kind in Kind}
_STAGES = {stage.value: stage for stage in Stage}


def parse_file_name(name: str) -> FileName:
    match = _SEGMENT_FILE.fullmatch(name)
    if match is None:
        raise BadName(name, "not 20 digits and a suffix")
    digits, kind, stage = match.group(1, 2, 3)
    if int(digits) > _LARGEST_OFFSET:
        raise BadName(name, "no offset is so large")
    if kind not in _KINDS:
        raise BadName(name, f"{kind} is no suffix of a segment")
    if (stage or "") not in _STAGES:
        raise BadName(name, f"{stage} is no stage of a segment")
    return FileName(int(digits), _KINDS[kind], _STAGES[stage or ""])
