"""Offsets as text, in the form that Spark's connector gives them."""

from __future__ import annotations

import json

import pytest

from ottla.pipelines.datasource.offsets import (
    by_place,
    by_topic,
    parse_offsets,
    parse_places,
    to_json,
)

OFFSETS = {("b", 10): 5, ("b", 9): 7, ("a", 0): 1}


def test_offsets_are_written_as_the_connector_writes_them() -> None:
    assert to_json(OFFSETS) == '{"a":{"0":1},"b":{"9":7,"10":5}}'


def test_the_same_offsets_give_the_same_text_whatever_their_order() -> None:
    turned = dict(reversed(OFFSETS.items()))
    assert json.dumps(by_topic(OFFSETS)) == json.dumps(by_topic(turned))


def test_what_was_written_is_read_back() -> None:
    assert by_place(by_topic(OFFSETS)) == OFFSETS
    assert parse_offsets(to_json(OFFSETS)) == OFFSETS


@pytest.mark.parametrize(
    "text", ["", "earlier", "[1]", '{"t":5}', '{"t":{"x":5}}', '{"t":{"0":"5"}}', '{"t":{"0":1.5}}']
)
def test_another_form_of_offsets_is_refused_with_the_right_one(text: str) -> None:
    with pytest.raises(ValueError, match=r'not of the form \{"topic":\{"0":23,"1":-1\}\}'):
        parse_offsets(text)


def test_places_are_named_by_lists() -> None:
    assert parse_places('{"a":[0,2],"b":[1]}') == [("a", 0), ("a", 2), ("b", 1)]


@pytest.mark.parametrize("text", ["{", "3", '{"a":{"0":1}}', '{"a":["0"]}'])
def test_another_form_of_places_is_refused_with_the_right_one(text: str) -> None:
    with pytest.raises(ValueError, match=r'not of the form \{"topic":\[0,1\]\}'):
        parse_places(text)
