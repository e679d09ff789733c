"""Levels of loggers are described and altered by Kafka's rules."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from ottla.config.alterations import Alteration, Operation
from ottla.config.description import Source
from ottla.config.loggers import LEVELS, ROOT, alter_loggers, describe_loggers
from ottla.config.refusal import INVALID_CONFIG, INVALID_REQUEST, ConfigRefused

PARENT = "ottla.tests.parent"
CHILD = f"{PARENT}.child"


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    before = logging.root.level
    logging.getLogger(PARENT).setLevel(logging.WARNING)
    logging.getLogger(CHILD).setLevel(logging.NOTSET)
    yield
    logging.root.setLevel(before)


def level(name: str) -> str | None:
    (entry,) = describe_loggers([name])
    return entry.value


def set_level(name: str, value: str | None) -> None:
    alter_loggers([Alteration(name, Operation.SET, value)])


def test_a_logger_without_a_level_has_its_parents() -> None:
    set_level(PARENT, "ERROR")
    assert (level(PARENT), level(CHILD)) == ("ERROR", "ERROR")


@pytest.mark.parametrize("name", LEVELS)
def test_every_level_of_kafkas_can_be_set(name: str) -> None:
    set_level(CHILD, name)
    assert level(CHILD) == name


def test_a_level_of_pythons_in_between_is_the_one_below() -> None:
    logging.getLogger(CHILD).setLevel(35)
    assert level(CHILD) == "WARN"
    logging.getLogger(CHILD).setLevel(1)
    assert level(CHILD) == "TRACE"


def test_deleting_a_level_gives_back_the_parents() -> None:
    set_level(CHILD, "DEBUG")
    alter_loggers([Alteration(CHILD, Operation.DELETE)])
    assert level(CHILD) == "WARN"


def test_all_loggers_are_described_the_root_first() -> None:
    entries = describe_loggers()
    names = [entry.name for entry in entries]
    assert names[0] == ROOT
    assert names[1:] == sorted(names[1:])
    assert CHILD in names
    assert {entry.source for entry in entries} == {Source.BROKER_LOGGER}


@pytest.mark.parametrize(
    ("alteration", "code"),
    [
        (Alteration(ROOT, Operation.DELETE), INVALID_REQUEST),
        (Alteration(CHILD, Operation.APPEND, "INFO"), INVALID_REQUEST),
        (Alteration(CHILD, Operation.SUBTRACT, "INFO"), INVALID_REQUEST),
        (Alteration(CHILD, Operation.SET, None), INVALID_REQUEST),
        (Alteration(CHILD, 9, "INFO"), INVALID_REQUEST),
        (Alteration(CHILD, Operation.SET, "debug"), INVALID_CONFIG),
        (Alteration(CHILD, Operation.SET, "OFF"), INVALID_CONFIG),
        (Alteration("no.such.logger", Operation.SET, "INFO"), INVALID_CONFIG),
        (Alteration("no.such.logger", Operation.DELETE), INVALID_CONFIG),
    ],
)
def test_a_refusal_changes_nothing(alteration: Alteration, code: int) -> None:
    with pytest.raises(ConfigRefused) as caught:
        alter_loggers([Alteration(PARENT, Operation.SET, "ERROR"), alteration])
    assert caught.value.code == code
    assert level(PARENT) == "WARN"


def test_a_logger_is_named_once() -> None:
    with pytest.raises(ConfigRefused, match="more than once"):
        alter_loggers([Alteration(CHILD, Operation.SET, "INFO")] * 2)


def test_a_trial_changes_nothing() -> None:
    alter_loggers([Alteration(CHILD, Operation.SET, "DEBUG")], validate_only=True)
    assert level(CHILD) == "WARN"
