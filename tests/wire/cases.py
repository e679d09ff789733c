"""A file of vectors as a list of judgements: which kind each case is, its name, whether it passes.

The kind is told by a case's fields, so a file may have any name.
"""

from __future__ import annotations

import gzip
import json
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ottla.protocol.records.control import read_control_type
from ottla.protocol.registry import API_NAMES, request_header_version, response_header_version
from tests.wire.messages import check_capture, check_header, check_internal, check_message
from tests.wire.record_sets import check_batches, check_downconvert

Case = dict[str, Any]

UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one case; `problem` is None when it passed or was skipped."""

    kind: str
    name: str
    problem: str | None = None
    skipped: bool = False


def judge_file(path: Path) -> Iterator[Judgement]:
    """Every case in the file. What cannot be read is a failure among the others."""
    number = 0
    try:
        for number, line in enumerate(_lines(path), 1):
            if line.strip():
                yield _judge_line(line, f"line {number}", path)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        where = f"after line {number}" if number else "the file"
        yield Judgement(UNREADABLE, where, _told(error))


def kind_of(case: Case) -> str | None:
    """Which check a case is for; None if its fields are none that we know."""
    for kind, fields in _FIELDS.items():
        if fields <= case.keys():
            return kind
    return None


def _lines(path: Path) -> Iterator[str]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from lines
    else:
        with path.open(encoding="utf-8") as lines:
            yield from lines


def _judge_line(line: str, where: str, path: Path) -> Judgement:
    try:
        case = json.loads(line)
    except ValueError as error:
        return Judgement(UNREADABLE, where, f"not JSON: {error}")
    kind = kind_of(case) if isinstance(case, dict) else None
    if kind is None:
        fields = ", ".join(case) if isinstance(case, dict) else type(case).__name__
        return Judgement(UNREADABLE, where, f"no known kind of case: {fields}")
    if case.get("unstable"):
        return Judgement(kind, _name(case), skipped=True)
    try:
        problem = _CHECKS[kind](case, path)
    except Exception as error:  # whatever a check raises is that case's failure, not the program's
        problem = _told(error)
    return Judgement(kind, _name(case), problem)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _name(case: Case) -> str:
    """The case in the words of its file: enough to find it again."""
    words = [str(case[field]) for field in ("api", "schema", "what", "side") if field in case]
    words += [f"v{case['version']}"] if "version" in case else []
    for field in ("kind", "session", "name", "file"):
        words += [str(case[field])] if field in case else []
    for field in ("seed", "n", "to_magic", "first_offset"):
        words += [f"{field}={case[field]}"] if field in case else []
    return " ".join(words)


def _check_message(case: Case, _: Path) -> str | None:
    key, version = case["key"], case["version"]
    header_of = request_header_version if case["side"] == "request" else response_header_version
    return (
        _differs("the name of the API", API_NAMES.get(key), case["api"])
        or _differs("the header's version", header_of(key, version), case["header_version"])
        or check_message(case)
    )


def _check_header(case: Case, _: Path) -> str | None:
    return check_header(case)


def _check_internal(case: Case, _: Path) -> str | None:
    body = bytes.fromhex(case["hex"])
    # What is stored has its version before it; a control record has it inside.
    stored = case["version"].to_bytes(2, "big") + body
    wrong = _differs("the stored bytes", stored.hex(), case.get("prefixed_hex", stored.hex()))
    if not wrong and case["schema"] == "ControlRecordKey":
        wrong = _differs("the type", read_control_type(body).name, case["json"]["name"])
    return wrong or check_internal(case)


def _check_capture(case: Case, _: Path) -> str | None:
    asked = case["request_header"]["correlationId"]
    response = bytes.fromhex(case["response_hex"] or "")
    answered = int.from_bytes(response[:4], "big", signed=True) if response else asked
    return _differs("the correlation id", answered, asked) or check_capture(case)


def _check_downconvert(case: Case, _: Path) -> str | None:
    return check_downconvert(case)


def _check_batches(case: Case, _: Path) -> str | None:
    return check_batches(case)


def _check_segment(case: Case, path: Path) -> str | None:
    """A log file in the archive of the same name beside the file of cases."""
    archive_path = path.with_name(path.name.removesuffix(".gz").removesuffix(".jsonl") + ".tar.gz")
    if not archive_path.exists():
        return f"{archive_path.name}, which holds the log, is not beside {path.name}"
    with tarfile.open(archive_path) as archive:
        found = [member for member in archive if f"/{member.name}".endswith("/" + case["file"])]
        content = archive.extractfile(found[0]) if found else None
        if content is None:
            return f"{archive_path.name} has no {case['file']}"
        return check_batches(case, content.read())


def _differs(what: str, found: object, wanted: object) -> str | None:
    return None if found == wanted else f"{what} is {found!r} instead of {wanted!r}"


# The first whose fields a case has: a frame has a side too, a segment has batches too.
_FIELDS: dict[str, set[str]] = {
    "down-conversion": {"to_magic", "in_hex"},
    "capture": {"request_hex", "response_hex"},
    "header": {"what", "side", "hex"},
    "internal record": {"schema", "hex"},
    "segment": {"file", "batches"},
    "batches": {"hex", "batches"},
    "refused batches": {"hex", "error"},
    "message": {"side", "key", "version", "hex", "json"},
}
_CHECKS: dict[str, Callable[[Case, Path], str | None]] = {
    "down-conversion": _check_downconvert,
    "capture": _check_capture,
    "header": _check_header,
    "internal record": _check_internal,
    "segment": _check_segment,
    "batches": _check_batches,
    "refused batches": _check_batches,
    "message": _check_message,
}
