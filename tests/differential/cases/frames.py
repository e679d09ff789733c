"""Frames that break the protocol: most close the connection, and the broker serves on."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack

from tests.differential.case import Case, Step, case
from tests.differential.cases.cluster import api_versions
from tests.differential.requests import At, To, batch, fetch, mangled, metadata, produce

ASKED = metadata(9, "t")
OLD = metadata(1, "t")


def header(*, key: int, version: int) -> Callable[[bytes], bytes]:
    """Another API or version over the same body."""
    return lambda frame: frame[:4] + pack(">hh", key, version) + frame[8:]


def resized(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Changes what follows the size, and lets the size fit."""

    def mangle(frame: bytes) -> bytes:
        body = change(frame[4:])
        return pack(">i", len(body)) + body

    return mangle


def cut(end: int) -> Callable[[bytes], bytes]:
    return lambda body: body[:end]


def size(number: int) -> Callable[[bytes], bytes]:
    return lambda frame: pack(">i", number) + frame[4:]


def then_well(name: str, *steps: Step) -> Case:
    """After each of them the broker must still answer, on a new connection if need be."""
    return case(name, *(each for bad in steps for each in (bad, OLD)), topics=["t"])


CASES: tuple[Case, ...] = (
    then_well("frame-unknown-key", mangled(ASKED, header(key=999, version=0)),
              mangled(ASKED, header(key=-1, version=0))),
    then_well("frame-unknown-version", mangled(ASKED, header(key=3, version=13)),
              mangled(ASKED, header(key=3, version=-1)),
              mangled(ASKED, header(key=0, version=99)), mangled(ASKED, header(key=1, version=18))),
    then_well("frame-controller-only-key", mangled(ASKED, header(key=62, version=0)),
              mangled(ASKED, header(key=52, version=0))),
    then_well("frame-trailing-bytes", mangled(ASKED, resized(lambda body: body + b"\0\0\0")),
              mangled(OLD, resized(lambda body: body + b"left over")),
              mangled(api_versions(0), resized(lambda body: body + b"\1\2\3"))),
    then_well("frame-cut-off", *(
        mangled(ASKED, resized(cut(n))) for n in (2, 6, 9, 20, -1))),
    then_well("frame-empty", mangled(ASKED, lambda _: pack(">i", 0))),
    then_well("frame-negative-size", mangled(ASKED, size(-1)), mangled(ASKED, size(-(2**31)))),
    then_well("frame-too-large", mangled(ASKED, size(2**31 - 1)),
              mangled(ASKED, size(100 * 1024 * 1024 + 1))),
    then_well("frame-no-kafka", mangled(ASKED, lambda _: b"GET / HTTP/1.1\r\n\r\n")),
    then_well("frame-null-client-id",
              mangled(OLD, resized(lambda body: body[:8] + b"\xff\xff" + body[22:]))),
    then_well("frame-lying-client-id",
              mangled(OLD, resized(lambda body: body[:8] + b"\x7f\xff" + body[10:])),
              mangled(OLD, resized(lambda body: body[:8] + b"\xff\xfe" + body[10:]))),
    then_well("frame-lying-array",
              mangled(OLD, resized(lambda body: body[:22] + b"\x7f\xff\xff\xff" + body[26:])),
              mangled(OLD, resized(lambda body: body[:22] + b"\xff\xff\xff\xfe" + body[26:])),
              mangled(ASKED,
              resized(lambda body: body[:23] + b"\xff\xff\xff\xff\x0f" + body[24:]))),
    then_well("frame-lying-string",
              mangled(OLD, resized(lambda body: body[:26] + b"\x7f\xff" + body[28:])),
              mangled(OLD, resized(lambda body: body[:26] + b"\xff\xff" + body[28:]))),
    then_well("frame-no-utf8",
              mangled(metadata(1, "=abcd"),
              resized(lambda body: body[:28] + b"\xff\xfe" + body[30:]))),
    then_well("frame-unknown-tags",
              mangled(ASKED, resized(lambda body: body[:-1] + b"\1\x63\3abc")),
              mangled(ASKED, resized(lambda body: body[:-1] + b"\1\x63\x7fabc")),
              mangled(ASKED, resized(lambda body: body[:-1] + b"\2\5\1a\4\1b"))),
    then_well("frame-records-past-the-end",
              mangled(produce(3, To(batch(b"a"))), resized(lambda body: body[:-3]))),
    then_well("frame-fetch-cut-off", mangled(fetch(12, At()), resized(lambda body: body[:-4]))),
)  # fmt: skip
