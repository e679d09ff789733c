"""Every option of the real Kafka is known here, with the same type, default and scope."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import pytest

from ottla.config.broker import BROKER_OPTIONS
from ottla.config.option import AnyOption, Change
from ottla.config.topic import BROKER_DEFAULT, TOPIC_OPTIONS


class Recorded(TypedDict):
    type: int
    default: str | None
    read_only: bool
    sensitive: bool
    at_least: float | None
    at_most: float | None
    one_of: list[str]


RECORDED = json.loads((Path(__file__).parent / "kafka_3_9_1.json").read_text(encoding="utf-8"))
BROKER: dict[str, Recorded] = RECORDED["broker"]
TOPIC: dict[str, Recorded] = RECORDED["topic"]
INTERNAL: dict[str, Recorded] = RECORDED["internal"]
# Kafka finds these out later in its start-up; here they are limits like any other.
STRICTER = {"log.roll.ms": 1, "log.roll.jitter.ms": 0}
OUR_OWN = ["ottla.metadata.path", "ottla.http.host", "ottla.http.port"]


def facts(option: AnyOption) -> Recorded:
    return Recorded(
        type=option.type.code,
        default=option.default_text,
        read_only=option.change is Change.READ_ONLY,
        sensitive=option.sensitive,
        at_least=None if option.name in STRICTER else option.at_least,
        at_most=option.at_most,
        one_of=list(option.one_of),
    )


@pytest.mark.parametrize("name", BROKER | INTERNAL)
def test_a_broker_option_is_kafkas(name: str) -> None:
    assert facts(BROKER_OPTIONS[name]) == (BROKER | INTERNAL)[name]


@pytest.mark.parametrize("name", TOPIC)
def test_a_topic_option_is_kafkas(name: str) -> None:
    assert facts(TOPIC_OPTIONS[name]) == TOPIC[name]


def test_what_is_stricter_is_so_on_purpose() -> None:
    assert {name: BROKER_OPTIONS[name].at_least for name in STRICTER} == STRICTER


def test_nothing_is_added_but_what_is_our_own() -> None:
    assert [name for name in BROKER_OPTIONS if name not in BROKER | INTERNAL] == OUR_OWN
    assert TOPIC_OPTIONS.keys() == TOPIC.keys()


def test_only_kafkas_internal_options_are_internal() -> None:
    internal = [option.name for option in BROKER_OPTIONS.values() if option.internal]
    assert sorted(internal) == sorted(INTERNAL)


@pytest.mark.parametrize("option", [*BROKER_OPTIONS.values(), *TOPIC_OPTIONS.values()])
def test_an_options_own_default_is_allowed(option: AnyOption) -> None:
    if option.default_text is not None:
        assert option.parse(option.default_text) == option.default


@pytest.mark.parametrize("name", BROKER_DEFAULT)
def test_a_topic_option_has_the_type_of_its_broker_option(name: str) -> None:
    assert TOPIC_OPTIONS[name].type is BROKER_DEFAULT[name].type


@pytest.mark.parametrize("option", [*BROKER_OPTIONS.values(), *TOPIC_OPTIONS.values()])
def test_an_option_says_in_one_sentence_what_it_does(option: AnyOption) -> None:
    assert option.doc.endswith(".")
    assert "\n" not in option.doc
