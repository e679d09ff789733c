"""`ottla protocol`: what it prints for people and programs, and how it meets mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ottla.cli import decode
from ottla.protocol.errors import ErrorCode
from ottla.protocol.registry import API_NAMES
from tests.unit.cli.captured import (
    API_VERSIONS_4,
    API_VERSIONS_REFUSED,
    COORDINATOR_FOUND_6,
    FIND_COORDINATOR_6,
    framed,
)
from tests.unit.cli.commands import run, told


def test_every_api_is_on_a_line_of_its_own() -> None:
    result = run("protocol", "apis")
    assert result.exit_code == 0
    heading, *lines = result.stdout.splitlines()
    assert heading.split() == ["key", "API", "versions", "flexible", "what", "it", "is"]
    assert [line.split()[1] for line in lines] == list(API_NAMES.values())
    assert lines[12].startswith("12   Heartbeat ")
    assert lines[12].endswith(" a member says that it is alive, and hears when to rejoin.")
    assert lines[17].split()[2:4] == ["0-1", "-"]


def test_programs_get_the_apis_as_a_list() -> None:
    result = run("protocol", "apis", "saslh", "--json")
    assert json.loads(result.stdout) == [
        {
            "key": 17,
            "name": "SaslHandshake",
            "oldest": 0,
            "newest": 1,
            "flexible_from": None,
            "request_header_versions": [1, 1],
            "response_header_versions": [0, 0],
            "meaning": "a client picks a SASL mechanism.",
        }
    ]


def test_a_name_that_no_api_has_is_answered_with_the_nearest() -> None:
    result = run("protocol", "apis", "Heratbeat")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no API is called 'Heratbeat'. Did you mean Heartbeat" in told(result)


def test_every_error_code_is_on_a_line_of_its_own() -> None:
    lines = run("protocol", "errors").stdout.splitlines()[1:]
    assert [line.split()[1] for line in lines] == [error.name for error in ErrorCode]


@pytest.mark.parametrize("word", ["41", "not_controller"])
def test_an_error_is_found_by_code_or_name(word: str) -> None:
    assert json.loads(run("protocol", "errors", word, "--json").stdout) == [
        {
            "code": 41,
            "name": "NOT_CONTROLLER",
            "retriable": True,
            "meaning": "Another broker is the controller.",
        }
    ]


@pytest.mark.parametrize(
    ("word", "advice"),
    [("NOT_CONTROLER", "Did you mean NOT_CONTROLLER"), ("999", "The codes are -1 to 133")],
)
def test_an_error_that_does_not_exist_is_a_mistake(word: str, advice: str) -> None:
    result = run("protocol", "errors", word)
    assert (result.exit_code, result.stdout) == (2, "")
    assert advice in told(result)


def test_a_request_in_hex_is_told_and_what_was_assumed() -> None:
    result = run("protocol", "decode", API_VERSIONS_4.hex(":"))
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["api"], found["version"], found["framed"]) == ("ApiVersions", 4, False)
    assert found["body"]["clientSoftwareName"] == "apache-kafka-java"
    assert "Read as one message without its size" in result.stderr


def test_a_size_before_the_message_is_noticed() -> None:
    result = run("protocol", "decode", framed(API_VERSIONS_4).hex())
    assert json.loads(result.stdout)["framed"] is True
    assert "Read as framed" in result.stderr


def test_nothing_is_assumed_of_what_was_said() -> None:
    result = run("protocol", "decode", "--unframed", API_VERSIONS_4.hex())
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_response_is_told_with_the_help_of_its_api_and_version() -> None:
    words = ("--response", "--api", "apiversions", "--version", "4")
    result = run("protocol", "decode", *words, API_VERSIONS_REFUSED.hex())
    assert result.exit_code == 0
    assert json.loads(result.stdout)["body"]["errorCode"] == 35


@pytest.mark.parametrize("as_hex", [False, True])
def test_a_file_may_be_raw_or_hex_and_hold_many_frames(tmp_path: Path, as_hex: bool) -> None:
    data = framed(API_VERSIONS_4, FIND_COORDINATOR_6)
    file = tmp_path / "frames"
    file.write_bytes(data.hex(" ", 8).encode() if as_hex else data)
    result = run("protocol", "decode", "--file", str(file))
    assert [found["api"] for found in json.loads(result.stdout)] == [
        "ApiVersions",
        "FindCoordinator",
    ]


def test_programs_get_one_object_a_line_and_no_notes() -> None:
    data = framed(API_VERSIONS_4, FIND_COORDINATOR_6)
    result = run("protocol", "decode", "--file", "-", "--json", stdin=data)
    assert [json.loads(line)["key"] for line in result.stdout.splitlines()] == [18, 10]
    assert result.stderr == ""


def test_both_sides_of_a_connection_are_told_together(tmp_path: Path) -> None:
    received = tmp_path / "received.bin"
    received.write_bytes(framed(API_VERSIONS_REFUSED, COORDINATOR_FOUND_6))
    sent = framed(API_VERSIONS_4, FIND_COORDINATOR_6)
    words = ("--file", "-", "--responses", str(received), "--json")
    result = run("protocol", "decode", *words, stdin=sent)
    assert result.exit_code == 0
    told_of = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(found["side"], found["api"]) for found in told_of] == [
        ("request", "ApiVersions"),
        ("response", "ApiVersions"),
        ("request", "FindCoordinator"),
        ("response", "FindCoordinator"),
    ]


def test_bytes_that_break_the_protocol_end_in_one_sentence() -> None:
    result = run("protocol", "decode", FIND_COORDINATOR_6[:-3].hex())
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(
        "ottla: the request: INVALID_REQUEST: "
        "FindCoordinatorRequest v6, field coordinator_keys[0], byte 20: "
    )
    assert result.stderr.count("\n") == 1


def test_what_was_read_before_the_bad_frame_is_printed() -> None:
    data = framed(API_VERSIONS_4, b"\x7f\xff\x00\x00")
    result = run("protocol", "decode", data.hex())
    assert result.exit_code == 1
    assert json.loads(result.stdout)["api"] == "ApiVersions"
    assert "request 2, which begins at byte 60" in result.stderr
    assert "there is no API with key 32767" in result.stderr


def test_a_frame_longer_than_the_input_is_noticed() -> None:
    cut_off = framed(API_VERSIONS_4)[:-1].hex()
    result = run("protocol", "decode", "--framed", cut_off)
    assert result.exit_code == 1
    assert "the size says 52 bytes, 51 are left. It was cut off" in result.stderr
    assert "--framed tells where it breaks off" in run("protocol", "decode", cut_off).stderr


@pytest.mark.parametrize(
    ("words", "stdin", "sentence"),
    [
        (["00g2"], b"", "'g' at character 3 is not a hex digit"),
        (["frame.bin"], b"", "bytes in a file are read with --file"),
        (["001"], b"", "3 hex digits are an odd number"),
        ([" "], b"", "the input is empty"),
        (["--file", "-"], b"", "stdin is empty"),
        (["--file", "-"], b"0012\n0z", "stdin: 'z' at line 2, column 2 is not a hex digit"),
        (["--file", "no/such.bin"], b"", "cannot read no/such.bin: No such file or directory"),
        (["00", "--responses", "no/such.bin"], b"", "cannot read no/such.bin"),
    ],
)
def test_input_that_cannot_be_read_ends_in_one_sentence(
    words: list[str], stdin: bytes, sentence: str
) -> None:
    result = run("protocol", "decode", *words, stdin=stdin)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("ottla: ")
    assert result.stderr.count("\n") == 1
    assert sentence in result.stderr


def test_a_file_is_not_read_without_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "_MOST_BYTES", 8)
    result = run("protocol", "decode", "--file", "/dev/zero")
    assert result.exit_code == 1
    assert "/dev/zero holds more than 8 bytes" in result.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "give the bytes as hex or with --file"),
        (["00", "--file", "-"], "one of the two"),
        (["00", "--response"], "--response needs --api and --version"),
        (["00", "--api", "Fetch"], "--api and --version go with --response"),
        (["00", "--response", "--api", "Fecth", "--version", "1"], "Did you mean Fetch"),
        (["00", "--response", "--api", "88", "--version", "1"], "the keys are 0 to 87"),
        (
            ["00", "--response", "--api", "Fetch", "--version", "99"],
            "Fetch has the versions 0-17, not 99",
        ),
        (
            ["00", "--response", "--api", "1", "--version", "1", "--responses", "x"],
            "not both",
        ),
        (["--file", "-", "--responses", "-"], "only one of --file and --responses can be stdin"),
        (["00", "--version", "one"], "'one' is not a valid"),
    ],
)
def test_a_wrong_use_exits_with_2_and_says_what_is_right(words: list[str], sentence: str) -> None:
    result = run("protocol", "decode", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in told(result)


@pytest.mark.parametrize("command", ["apis", "errors", "decode", "compatibility"])
def test_help_gives_examples_and_the_keys_of_the_json(command: str) -> None:
    result = run("protocol", command, "--help")
    assert result.exit_code == 0
    assert f"ottla protocol {command}" in result.stdout.partition("Example")[2]


def test_the_group_alone_lists_its_commands() -> None:
    shown = run("protocol")
    assert all(name in shown.output for name in ("apis", "errors", "decode", "compatibility"))
