"""Dead letters as records: nothing of them is lost on the way, and failures are counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipelines.repair.letter import DeadLetter
from ottla.pipelines.repair.letter_records import (
    ATTEMPTS,
    NotALetter,
    Record,
    from_record,
    headers_to_redrive,
    to_records,
)

LETTER = DeadLetter(
    topic="page-views",
    partition=3,
    offset=42,
    timestamp_ms=1_767_000_000_000,
    key=b"k",
    value=b"{not json",
    headers=(("trace", b"\xff\x00"), ("trace", None)),
    rule="malformed",
    error="Expecting property name: column 2",
)
some_bytes = st.none() | st.binary(max_size=20)
letters = st.builds(
    DeadLetter,
    topic=st.text(max_size=10),
    partition=st.integers(0, 2**31 - 1),
    offset=st.integers(0, 2**63 - 1),
    timestamp_ms=st.integers(-1, 2**62),
    key=some_bytes,
    value=some_bytes,
    headers=st.lists(st.tuples(st.sampled_from(["a", "ottla.topic", "b"]), some_bytes)).map(tuple),
    rule=st.text(max_size=10),
    error=st.text(max_size=10),
)


def to_record(letter: DeadLetter, pipeline: str = "views") -> Record:
    (record,) = to_records([letter], pipeline=pipeline)
    return record


@given(letters, st.text())
def test_a_letter_comes_back_as_it_went(letter: DeadLetter, pipeline: str) -> None:
    assert from_record(*to_record(letter, pipeline)) == (letter, pipeline, 1)


def test_the_record_itself_stays_as_it_was_and_our_headers_follow_its_own() -> None:
    key, value, headers = to_record(LETTER)
    assert (key, value) == (LETTER.key, LETTER.value)
    assert headers == [
        ("trace", b"\xff\x00"),
        ("trace", None),
        ("ottla.topic", b"page-views"),
        ("ottla.partition", b"3"),
        ("ottla.offset", b"42"),
        ("ottla.timestamp", b"1767000000000"),
        ("ottla.pipeline", b"views"),
        ("ottla.rule", b"malformed"),
        ("ottla.error", b"Expecting property name: column 2"),
        ("ottla.attempts", b"1"),
    ]


def test_a_missing_value_stays_missing_and_is_not_empty() -> None:
    key, value, _ = to_record(LETTER._replace(key=b"", value=None))
    assert (key, value) == (b"", None)


def test_an_error_may_quote_what_is_no_text_and_is_not_endless() -> None:
    quoting = LETTER._replace(error="\ud800 is no text")
    assert from_record(*to_record(quoting)).letter.error == r"\ud800 is no text"
    endless = from_record(*to_record(LETTER._replace(error="x" * 10**6)))
    assert endless.letter.error == "x" * 2_000


def test_what_fails_again_after_a_redrive_says_so() -> None:
    record = to_record(LETTER)
    for attempts in (1, 2, 3):
        found = from_record(*record)
        assert found.attempts == attempts
        again = headers_to_redrive(found)
        assert again == (*LETTER.headers, (ATTEMPTS, str(attempts).encode()))
        record = to_record(LETTER._replace(headers=again, offset=99))


@pytest.mark.parametrize("count", [b"many", b"-1", None, b"1" * 5_000, "²".encode()])
def test_a_count_that_is_none_counts_as_nothing(count: bytes | None) -> None:
    letter = LETTER._replace(headers=((ATTEMPTS, count),))
    assert from_record(*to_record(letter)).attempts == 1


def test_a_letter_of_a_topic_of_dead_letters_keeps_its_first_story() -> None:
    _, _, headers = to_record(LETTER)
    again = LETTER._replace(topic="page-views.dlq", headers=tuple(headers))
    found = from_record(*to_record(again, "rescue"))
    assert (found.letter.topic, found.pipeline) == ("page-views.dlq", "rescue")
    assert found.letter.headers == tuple(headers)


def test_records_of_others_are_no_letters() -> None:
    with pytest.raises(NotALetter, match=r"no header ottla\.topic"):
        from_record(b"k", b"v", [("trace", b"1")])
    _, _, headers = to_record(LETTER)
    broken = [(name, b"x" if name == "ottla.offset" else value) for name, value in headers]
    with pytest.raises(NotALetter, match=r"ottla\.offset is no number: b'x'"):
        from_record(b"k", b"v", broken)
