"""Histories as lines: what they look like, and what is refused."""

from __future__ import annotations

import pytest

from ottla.verify.encoding import BadHistory, decode, encode, from_lines, to_lines
from ottla.verify.history import (
    Ended,
    Event,
    FinalRead,
    History,
    Isolation,
    OffsetsSent,
    Outcome,
    Read,
    Sent,
    Source,
    TopicPartition,
)

ORDERS = TopicPartition("orders", 0)
HEAD = '{"history":1,"has_one_clock":true}'


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            Sent("p", ORDERS, "v", 1, 2, "t", offset=5, source=Source("g", ORDERS, 3)),
            '{"event":"sent","client":"p","partition":["orders",0],"value":"v","asked":1,'
            '"answered":2,"transaction":"t","offset":5,"source":["g",["orders",0],3]}',
        ),
        (
            Ended("p", "t", True, 1, 2, Outcome.UNKNOWN),
            '{"event":"ended","client":"p","transaction":"t","is_commit":true,"asked":1,'
            '"answered":2,"outcome":"unknown"}',
        ),
        (
            Read("c", ORDERS, 5, "v", 9),
            '{"event":"read","client":"c","partition":["orders",0],"offset":5,"value":"v","at":9}',
        ),
        (
            OffsetsSent("p", "t", "g", ((ORDERS, 5),), 1, 2),
            '{"event":"offsets_sent","client":"p","transaction":"t","group":"g",'
            '"offsets":[[["orders",0],5]],"asked":1,"answered":2}',
        ),
        (
            FinalRead(ORDERS, Isolation.READ_COMMITTED, ((0, "v"),)),
            '{"event":"final_read","partition":["orders",0],"isolation":"read_committed",'
            '"records":[[0,"v"]]}',
        ),
    ],
)
def test_an_event_is_a_line(event: Event, line: str) -> None:
    assert encode(event) == line
    assert decode(line) == event


def test_whether_clocks_agree_is_kept() -> None:
    history = History((), has_one_clock=False)
    assert from_lines(to_lines(history)) == history


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "line 1: a history begins with"),
        (["[]"], "line 1: a history begins with"),
        (['{"history":2,"has_one_clock":true}'], "line 1: version 2"),
        ([HEAD, "not json"], "line 2: 'not json' is no event"),
        ([HEAD, '{"event":"unheard"}'], "unheard"),
        ([HEAD, '{"event":"seeked","client":"c"}'], "missing 3 required"),
        ([HEAD, '{"event":"seeked","cl":"c"}'], "'cl'"),
        ([HEAD, '{"event":"seeked","client":5}'], "5 is no text"),
        ([HEAD, '{"event":"seeked","offset":true}'], "True is no whole number"),
        ([HEAD, '{"event":"ended","is_commit":1}'], "1 is neither true nor false"),
        ([HEAD, '{"event":"ended","outcome":"perhaps"}'], "perhaps"),
        ([HEAD, '{"event":"read","partition":["orders"]}'], "not enough values"),
    ],
)
def test_what_is_no_history_is_told(lines: list[str], why: str) -> None:
    with pytest.raises(BadHistory, match=why):
        from_lines(lines)
