"""The checker finds what is wrong: each kind of case is spoilt, and must fail."""

from __future__ import annotations

import gzip
import json
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.wire.cases import kind_of
from tests.wire.check import main

VECTORS = Path(__file__).parent / "vectors"
FILES = {
    "requests": ("hex", "json"),
    "responses": ("hex", "json"),
    "headers": ("hex", "json"),
    "internal": ("hex", "json"),
    "captures": ("request_hex", "request_json"),
    "old-captures": ("response_hex", "response_json"),
    "batches": ("hex", "batches"),
    "downconvert": ("in_hex", "in"),
}
Output = pytest.CaptureFixture[str]


def cases(name: str, count: int) -> list[dict[str, Any]]:
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in islice(lines, count)]


def write(path: Path, lines: list[Any]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def last_lines(output: Output) -> list[str]:
    return output.readouterr().out.splitlines()[-2:]


def other_value(value: Any) -> Any:
    """The same JSON with its first leaf changed."""
    if isinstance(value, dict) and value:
        name = next(iter(value))
        return {**value, name: other_value(value[name])}
    if isinstance(value, list) and value:
        return [other_value(value[0]), *value[1:]]
    return "QUFB" if isinstance(value, str) and value != "QUFB" else 77


@pytest.mark.parametrize("name", FILES)
def test_untouched_cases_pass_whatever_the_file_is_called(
    name: str, tmp_path: Path, capsys: Output
) -> None:
    file = write(tmp_path / "renamed.jsonl", cases(name, 4))
    assert main([file]) == 0
    assert last_lines(capsys) == ["0 unstable cases skipped", "4 passed, 0 failed"]


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_digit_anywhere_in_the_bytes_is_found(
    name: str, tmp_path: Path, capsys: Output
) -> None:
    case = cases(name, 4)[3]
    field, _ = FILES[name]
    digits = case[field]
    spoilt = [
        {**case, field: digits[:i] + f"{int(digits[i], 16) ^ 1:x}" + digits[i + 1 :]}
        for i in range(0, len(digits), max(len(digits) // 100, 1))
    ]
    assert main([write(tmp_path / "spoilt.jsonl", spoilt)]) == 1
    assert last_lines(capsys)[-1] == f"0 passed, {len(spoilt)} failed"


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_value_is_found_and_named(name: str, tmp_path: Path, capsys: Output) -> None:
    good, case = cases(name, 5)[3:]
    _, field = FILES[name]
    case[field] = other_value(case[field])
    assert main([write(tmp_path / "spoilt.jsonl", [good, case])]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "1 passed, 1 failed"
    assert str(case.get("seed", case.get("n"))) in printed[1]


def test_a_wrong_version_of_the_header_is_found(tmp_path: Path, capsys: Output) -> None:
    case = cases("requests", 1)[0]
    case["header_version"] += 1
    assert main([write(tmp_path / "spoilt.jsonl", [case])]) == 1
    assert "the header's version is 1 instead of 2" in capsys.readouterr().out


def test_a_spoilt_log_file_is_found(tmp_path: Path, capsys: Output) -> None:
    shutil.copy(VECTORS / "old-segments.tar.gz", tmp_path / "logs.tar.gz")
    case = cases("old-segments", 1)[0]
    wrong = {**case, "batches": other_value(case["batches"])}
    absent = {**case, "file": "broker-9/none-0/00000000000000000000.log"}
    assert main([write(tmp_path / "logs.jsonl", [case, wrong, absent])]) == 1
    assert last_lines(capsys)[-1] == "1 passed, 2 failed"


def test_logs_without_their_archive_fail(tmp_path: Path, capsys: Output) -> None:
    assert main([write(tmp_path / "logs.jsonl", cases("segments", 1))]) == 1
    assert "logs.tar.gz, which holds the log, is not beside logs.jsonl" in capsys.readouterr().out


def test_an_exception_in_a_check_is_one_failure_without_a_stack(
    tmp_path: Path, capsys: Output
) -> None:
    good, bad = cases("requests", 2)
    bad["hex"] = "no hex"
    assert main([write(tmp_path / "spoilt.jsonl", [bad, good])]) == 1
    printed = capsys.readouterr()
    assert "ValueError: non-hexadecimal number found" in printed.out
    assert "Traceback" not in printed.out + printed.err
    assert printed.out.endswith("1 passed, 1 failed\n")


def test_unstable_cases_are_skipped_and_counted(tmp_path: Path, capsys: Output) -> None:
    good, unstable = cases("requests", 2)
    file = write(tmp_path / "few.jsonl", [good, {**unstable, "unstable": True, "hex": "00"}])
    assert main([file]) == 0
    assert last_lines(capsys) == ["1 unstable cases skipped", "1 passed, 0 failed"]


def test_a_file_of_unstable_cases_alone_proves_nothing(tmp_path: Path, capsys: Output) -> None:
    case = {**cases("requests", 1)[0], "unstable": True}
    assert main([write(tmp_path / "few.jsonl", [case])]) == 1
    assert last_lines(capsys) == ["1 unstable cases skipped", "0 passed, 0 failed"]


def test_at_most_twenty_failures_are_shown(tmp_path: Path, capsys: Output) -> None:
    case = {**cases("requests", 1)[0], "hex": ""}
    assert main([write(tmp_path / "bad.jsonl", [case] * 30)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert len([line for line in printed if line.startswith("  Produce request v0 default")]) == 20
    assert "  and 10 more" in printed


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file holds no cases"),
        (b"\n\n", "the file holds no cases"),
        (b"{", "line 1: not JSON"),
        (b"[1]", "line 1: no known kind of case: list"),
        (b'{"colour": "red"}', "line 1: no known kind of case: colour"),
        (b"\xff\xfe", "UnicodeDecodeError"),
    ],
)
def test_a_file_that_makes_no_sense_fails(
    content: bytes, told: str, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "strange.jsonl"
    path.write_bytes(content)
    assert main([str(path)]) == 1
    printed = capsys.readouterr().out
    assert told in printed
    assert printed.endswith("0 passed, 1 failed\n")


def test_a_missing_file_and_a_cut_off_archive_fail(tmp_path: Path, capsys: Output) -> None:
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes((VECTORS / "headers.jsonl.gz").read_bytes()[:-100])
    not_gzip = tmp_path / "not.jsonl.gz"
    not_gzip.write_bytes(b"{}")
    assert main([str(tmp_path / "none.jsonl"), str(cut), str(not_gzip)]) == 1
    printed = capsys.readouterr().out
    for told in ("the file: FileNotFoundError", "EOFError", "BadGzipFile"):
        assert told in printed


@pytest.mark.parametrize("arguments", [[], ["--strict"], ["-x", "file.jsonl"]])
def test_bad_usage_exits_2_with_help(arguments: list[str], capsys: Output) -> None:
    assert main(arguments) == 2
    assert "usage: python -m tests.wire.check FILE" in capsys.readouterr().err


def test_every_kind_is_told_by_its_fields() -> None:
    kinds = {name: kind_of(cases(name, 1)[0]) for name in [*FILES, "segments"]}
    assert kinds == {
        "requests": "message",
        "responses": "message",
        "headers": "header",
        "internal": "internal record",
        "captures": "capture",
        "old-captures": "capture",
        "batches": "batches",
        "downconvert": "down-conversion",
        "segments": "segment",
    }
