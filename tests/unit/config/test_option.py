"""An option judges its values, and a config hands them out with their types."""

from __future__ import annotations

import pytest

from ottla.config.kind import INT, LIST, PASSWORD, STRING
from ottla.config.option import Computed, Config, ConfigError, Option, declared, parse_values

SIZE = Option(name="size", type=INT, default=10, at_least=1, at_most=20, doc="A size.")
DOUBLED = Option(
    name="doubled", type=INT, default=Computed(lambda config: 2 * config[SIZE]), doc="Twice that."
)
POLICY = Option(
    name="policy", type=LIST, default=("keep",), one_of=("keep", "drop"), doc="What is done."
)
SECRET = Option(
    name="secret", type=PASSWORD, default=None, validator=lambda _: "a better one", doc="A secret."
)
OPTIONS = declared({"A": SIZE, "B": DOUBLED, "C": POLICY, "D": SECRET, "other": "no option"})


@pytest.mark.parametrize(
    ("option", "text", "complaint"),
    [
        (SIZE, "0", "size: '0' is not allowed; expected at least 1 and at most 20"),
        (SIZE, "21", "size: '21' is not allowed; expected at least 1 and at most 20"),
        (SIZE, "x", "size: 'x' is not allowed; expected a whole number of 32 bits"),
        (POLICY, "keep,hide", "policy: 'keep,hide' is not allowed; expected one of keep, drop"),
    ],
)
def test_a_mistake_names_option_value_and_limit(
    option: Option[object], text: str, complaint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        option.parse(text)
    assert str(caught.value).startswith(complaint)


def test_a_mistake_does_not_show_a_secret() -> None:
    with pytest.raises(ConfigError, match=r"secret: the value given .* a better one"):
        SECRET.parse("hunter2")


def test_the_limits_themselves_are_allowed() -> None:
    assert [SIZE.parse("1"), SIZE.parse("20")] == [1, 20]
    assert POLICY.parse("drop,keep") == ("drop", "keep")


def test_an_unset_option_has_its_default() -> None:
    config = Config(OPTIONS, {})
    assert (config[SIZE], config[POLICY], config[SECRET]) == (10, ("keep",), None)
    assert not config.is_set(SIZE)


def test_a_computed_default_follows_the_others_until_it_is_set() -> None:
    assert Config(OPTIONS, {"size": 3})[DOUBLED] == 6
    assert Config(OPTIONS, {"size": 3, "doubled": 5})[DOUBLED] == 5
    assert DOUBLED.default_text is None


def test_an_option_of_another_set_has_no_value() -> None:
    stranger = Option(name="stranger", type=STRING, default="", doc="Not ours.")
    with pytest.raises(KeyError, match="stranger"):
        Config(OPTIONS, {})[stranger]


def test_all_mistakes_are_found() -> None:
    values, mistakes = parse_values(OPTIONS, {"size": "0", "doubled": "7", "policy": "x", "y": ""})
    assert values == {"doubled": 7}
    assert [mistake.partition(":")[0] for mistake in mistakes] == ["size", "policy"]


def test_two_options_of_one_name_are_a_bug() -> None:
    twin = Option(name="size", type=INT, default=1, doc="Another size.")
    with pytest.raises(AssertionError, match="size stands twice"):
        declared({"A": SIZE}, {"A": twin})
