"""Topic names that Kafka does not allow."""

from __future__ import annotations

import pytest

from ottla.controller.topic_names import Collisions, check_name
from ottla.protocol.errors import ErrorCode, KafkaError


@pytest.mark.parametrize("name", ["a", "A.b_c-1", "x" * 249, "..."])
def test_a_good_name_passes(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("x" * 250, f"the length of '{'x' * 250}' is longer than the max allowed length 249"),
        (
            "a/b",
            "'a/b' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'",
        ),
        (
            "a\n",
            "'a\n' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'",
        ),
    ],
)
def test_a_bad_name_is_refused_in_kafkas_words(name: str, reason: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_name(name)
    assert refused.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert refused.value.detail == f"Topic name is invalid: {reason}"


def test_dots_and_underscores_collide() -> None:
    collisions = Collisions(["a.b", "plain"])
    with pytest.raises(KafkaError, match=r"Topic 'a_b' collides with existing topics: a\.b"):
        collisions.check("a_b")
    collisions.check("plain")
    collisions.check("a-b")
    collisions.add("c_d.e")
    with pytest.raises(KafkaError):
        collisions.check("c.d.e")
