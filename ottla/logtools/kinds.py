"""What the files and folders of a log directory are, by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kinds of files in a log directory."""

    LOG = "log"
    OFFSET_INDEX = "index"
    TIME_INDEX = "timeindex"
    TRANSACTION_INDEX = "txnindex"
    SNAPSHOT = "snapshot"
    LEADER_EPOCHS = "leader-epoch-checkpoint"
    OFFSETS = "offset checkpoint"
    PARTITION = "partition.metadata"
    PROPERTIES = "meta.properties"
    CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
    LOCK = ".lock"


OFFSET_CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
_FIXED_NAMES = {
    "leader-epoch-checkpoint": Kind.LEADER_EPOCHS,
    "partition.metadata": Kind.PARTITION,
    "meta.properties": Kind.PROPERTIES,
    ".kafka_cleanshutdown": Kind.CLEAN_SHUTDOWN,
    ".lock": Kind.LOCK,
    **dict.fromkeys(OFFSET_CHECKPOINTS, Kind.OFFSETS),
}
_SEGMENT_FILE = re.compile(
    r"(?P<base>\d{20})\.(?P<kind>log|index|timeindex|txnindex|snapshot)"
    r"(?P<leftover>\.cleaned|\.swap|\.deleted)?"
)
_FOLDER = re.compile(
    r"(?P<topic>[a-zA-Z0-9._-]{1,249})-(?P<partition>\d+)"
    r"(?:\.[0-9a-f]{32}-(?P<state>delete|future|stray))?"
)


@dataclass(frozen=True, slots=True)
class FileName:
    """`leftover` is the suffix of a file that a roll, a cleaning or a deletion left unfinished."""

    kind: Kind
    base_offset: int = 0
    leftover: str = ""


@dataclass(frozen=True, slots=True)
class FolderName:
    """A partition's folder; `state` is `delete`, `future` or `stray` if it is not in service."""

    topic: str
    partition: int
    state: str = ""


def file_name(name: str) -> FileName | None:
    """None for a name that Kafka does not give."""
    if kind := _FIXED_NAMES.get(name):
        return FileName(kind)
    found = _SEGMENT_FILE.fullmatch(name)
    if found is None or int(found["base"]) >= 1 << 63:
        return None
    return FileName(Kind(found["kind"]), int(found["base"]), found["leftover"] or "")


def folder_name(name: str) -> FolderName | None:
    found = _FOLDER.fullmatch(name)
    if found is None or int(found["partition"]) >= 1 << 31:
        return None
    return FolderName(found["topic"], int(found["partition"]), found["state"] or "")


def segment_file(folder: str, base_offset: int, kind: Kind, leftover: str = "") -> str:
    return f"{folder}/{base_offset:020}.{kind.value}{leftover}"


def split_path(path: str) -> tuple[str, str]:
    """Folder and name; the folder of a bare name is the current one."""
    folder, _, name = path.rstrip("/").rpartition("/")
    return folder or ("/" if path.startswith("/") else "."), name
