"""Kafka's versions as inter.broker.protocol.version and message.format.version name them."""

from __future__ import annotations

# One "3.9-IV0" for every change to the protocol between brokers: release, and how many.
_CHANGES = {
    "0.10.0": 2, "0.10.1": 3, "0.10.2": 1, "0.11.0": 3, "1.0": 1, "1.1": 1, "2.0": 2, "2.1": 3,
    "2.2": 2, "2.3": 2, "2.4": 2, "2.5": 1, "2.6": 1, "2.7": 3, "2.8": 2, "3.0": 2, "3.1": 1,
    "3.2": 1, "3.3": 4, "3.4": 1, "3.5": 3, "3.6": 3, "3.7": 5, "3.8": 1, "3.9": 1, "4.0": 2,
}  # fmt: skip
_NOT_FINAL = "4.0"  # 3.9 knows its first changes, but no short name for them
_BEFORE_CHANGES_WERE_COUNTED = ("0.8.0", "0.8.1", "0.8.2", "0.9.0")

VERSIONS = _BEFORE_CHANGES_WERE_COUNTED + tuple(
    f"{release}-IV{change}" for release, count in _CHANGES.items() for change in range(count)
)
_BY_NAME = {version: version for version in VERSIONS} | {
    release: f"{release}-IV{count - 1}"
    for release, count in _CHANGES.items()
    if release != _NOT_FINAL
}


def full_version(text: str) -> str | None:
    """The exact version that `2.0`, `2.0.1` or `2.0-IV1` stands for; None if there is none."""
    segments = 3 if text.startswith("0.") else 2
    return _BY_NAME.get(".".join(text.split(".")[:segments]))


def is_version(text: str) -> bool:
    return full_version(text) is not None


def record_magic(text: str) -> int:
    """The record format of a message.format.version: 0, 1 or 2."""
    version = full_version(text)
    assert version is not None, text
    if version in _BEFORE_CHANGES_WERE_COUNTED:
        return 0
    return 1 if version.startswith("0.10.") else 2
