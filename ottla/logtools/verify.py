"""Checks a whole log directory, or one partition's folder, and says what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ottla.logtools.finding import Finding, Severity, error, note, warning
from ottla.logtools.partition_check import Extent, PartitionCheck
from ottla.logtools.paths import split_path
from ottla.storage import checkpoints
from ottla.storage.files import CorruptLog, Disk
from ottla.storage.names import BadName, Fate, FolderName, Kind, parse_file_name, parse_folder_name
from ottla.storage.properties import META_PROPERTIES, parse_meta_properties

_OFFSETS = {
    checkpoints.RECOVERY_POINTS: "recovery point",
    checkpoints.HIGH_WATERMARKS: "high watermark",
    checkpoints.LOG_STARTS: "log start",
    checkpoints.CLEANED_UP_TO: "compacted end",
}
_KNOWN = (*_OFFSETS, META_PROPERTIES, checkpoints.CLEAN_SHUTDOWN, ".lock")
# What has been read of how much, in bytes.
Progress = Callable[[int, int], None]


class NoLogs(Exception):
    """Neither a log directory nor a partition's folder."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked, and what is wrong with it."""

    partitions: int
    size_bytes: int
    findings: list[Finding]

    @property
    def is_sound(self) -> bool:
        return all(finding.severity is Severity.NOTE for finding in self.findings)


def verify(disk: Disk, path: str, progress: Progress = lambda done, total: None) -> Report:
    """`NoLogs` if there is nothing to check."""
    path = path.rstrip("/") or "/"
    if holds_log(disk, path):
        return Verifier(disk, progress).partition(path)
    return Verifier(disk, progress).directory(path)


def holds_log(disk: Disk, path: str) -> bool:
    """Whether this is a partition's folder."""
    return any(is_log(name) for name in disk.names(path))


def is_log(name: str) -> bool:
    try:
        return parse_file_name(name).kind is Kind.LOG
    except BadName:
        return False


def log_bytes(disk: Disk, folder: str) -> int:
    """The size of all logs in a partition's folder."""
    found = [disk.status(f"{folder}/{name}") for name in disk.names(folder) if is_log(name)]
    return sum(status.size_bytes for status in found if status is not None)


class Verifier:
    """One run: the findings gather while the logs are read."""

    def __init__(self, disk: Disk, progress: Progress) -> None:
        self._disk = disk
        self._progress = progress
        self._findings: list[Finding] = []
        self._done = 0
        self._total = 0

    def partition(self, folder: str) -> Report:
        self._total = log_bytes(self._disk, folder)
        name = split_path(folder)[1]
        try:
            parse_folder_name(name)
        except BadName as cause:
            what = f"no name of a partition's folder: {cause.reason}"
            self._findings.append(note(folder, None, what))
        self._check(folder)
        return Report(1, self._done, self._findings)

    def directory(self, path: str) -> Report:
        folders = self._folders(path)
        if not folders and self._disk.status(f"{path}/{META_PROPERTIES}") is None:
            raise NoLogs(path)
        self._total = sum(log_bytes(self._disk, f"{path}/{name}") for name in folders)
        self._check_properties(f"{path}/{META_PROPERTIES}")
        is_clean = self._check_clean_shutdown(f"{path}/{checkpoints.CLEAN_SHUTDOWN}")
        extents = {}
        for name, parsed in folders.items():
            extent = self._check(f"{path}/{name}")
            if parsed.fate is Fate.LIVE:
                extents[parsed.topic, parsed.partition] = extent
        for name, meaning in _OFFSETS.items():
            self._check_offsets(f"{path}/{name}", meaning, extents)
        if is_clean:
            self._check_flushed(f"{path}/{checkpoints.RECOVERY_POINTS}", extents)
        return Report(len(folders), self._done, self._findings)

    def _folders(self, path: str) -> dict[str, FolderName]:
        folders = {}
        for name in self._disk.names(path):
            status = self._disk.status(f"{path}/{name}")
            if status is None or not status.is_folder:
                if name not in _KNOWN:
                    self._findings.append(note(f"{path}/{name}", None, "not one of Kafka's files"))
                continue
            try:
                folders[name] = parse_folder_name(name)
            except BadName as cause:
                fix = "Move it out: a broker refuses to start with it."
                self._findings.append(
                    warning(
                        f"{path}/{name}", None, f"not a partition's folder: {cause.reason}", fix
                    )
                )
        for name, parsed in folders.items():
            if parsed.fate in (Fate.DELETE, Fate.STRAY):
                what = "to be deleted" if parsed.fate is Fate.DELETE else "no longer of this broker"
                self._findings.append(note(f"{path}/{name}", None, what))
        return folders

    def _check(self, folder: str) -> Extent:
        return PartitionCheck(self._disk, folder, self._findings, self._advance).run()

    def _advance(self, size_bytes: int) -> None:
        self._done += size_bytes
        self._progress(self._done, self._total)

    def _check_properties(self, path: str) -> None:
        fix = "Without it a broker takes the folder for a new one, or refuses to start."
        try:
            if parse_meta_properties(self._disk.read(path), path).node_id is None:
                self._findings.append(warning(path, None, "no broker.id or node.id", fix))
        except FileNotFoundError:
            self._findings.append(warning(path, None, "missing", fix))
        except CorruptLog as cause:
            self._findings.append(error(path, cause.position, cause.cause, fix))

    def _check_clean_shutdown(self, path: str) -> bool:
        if self._disk.status(path) is None:
            what = "missing: not stopped cleanly, or in use, so the last writes may look unfinished"
            self._findings.append(note(path, None, what))
            return False
        try:
            checkpoints.parse_clean_shutdown(self._disk.read(path), path)
        except CorruptLog as cause:
            self._findings.append(note(path, cause.position, cause.cause))
        return True

    def _check_flushed(self, path: str, extents: dict[tuple[str, int], Extent]) -> None:
        """A broker that stops cleanly has flushed every log to its end, and noted that."""
        try:
            offsets = checkpoints.parse_offsets(self._disk.read(path), path)
        except (CorruptLog, FileNotFoundError):
            return  # said already
        fix = "Remove .kafka_cleanshutdown: the broker then checks the logs when it starts."
        for (topic, partition), extent in extents.items():
            offset = offsets.get((topic, partition))
            if offset is None or offset < extent.end_offset:
                known = "nothing" if offset is None else offset
                what = f"{topic}-{partition} ends at {extent.end_offset}, flushed is {known}"
                self._findings.append(warning(path, None, what, fix))

    def _check_offsets(
        self, path: str, meaning: str, extents: dict[tuple[str, int], Extent]
    ) -> None:
        if self._disk.status(path) is None:
            self._findings.append(note(path, None, "missing; a broker writes it when it runs"))
            return
        fix = "The broker takes the log's own end instead; compare with the other replicas."
        try:
            offsets = checkpoints.parse_offsets(self._disk.read(path), path)
        except CorruptLog as cause:
            fix = "Remove it: the broker then checks the logs from their beginning."
            self._findings.append(error(path, cause.position, cause.cause, fix))
            return
        for (topic, partition), offset in offsets.items():
            extent = extents.get((topic, partition))
            if extent is None:
                self._findings.append(note(path, None, f"{topic}-{partition} is not here"))
            elif not 0 <= offset <= extent.end_offset:
                what = f"the {meaning} of {topic}-{partition} is {offset}, its log ends at"
                self._findings.append(error(path, None, f"{what} {extent.end_offset}", fix))
