"""What was decided on a letter: as a record, and read again, whatever else lies in its topic."""

from __future__ import annotations

import pytest

from ottla.pipelines.repair.markers import (
    Marker,
    State,
    marker_key,
    parse_marker,
    parse_marker_key,
)


@pytest.mark.parametrize("state", [State.REDRIVEN, State.DISCARDED])
def test_a_marker_comes_back_as_it_went(state: State) -> None:
    marker = Marker(state, 5, "views", 2, "views:1:42")
    assert parse_marker(marker.value()) == marker


@pytest.mark.parametrize("value", [None, b"", b"{}", b"[]", b"\xff", b'{"state":"lost"}'])
def test_what_is_no_marker_says_nothing(value: bytes | None) -> None:
    assert parse_marker(value) is None


def test_a_key_names_one_letter() -> None:
    key = marker_key("views.dlq", 3, 17)
    assert key == b"views.dlq:3:17"
    assert parse_marker_key(key) == (("views.dlq", 3), 17)
    for other in (b"", b"views.dlq", b"views.dlq:3", b"views.dlq:3:x", b"\xff:1:", b"a:1:2:3"):
        assert parse_marker_key(other) is None
