"""Fetch sessions: every combination of id and epoch, what is news, and who has to go."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.fetch_sessions import (
    EVICTABLE_AFTER_MS,
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    Asked,
    Fetch,
    FetchSessions,
    Key,
    Session,
    Told,
)

LAST_EPOCH = 0x7FFF_FFFF


def asked(*indexes: int, offset: int = 0, topic: str = "orders") -> list[Asked]:
    return [Asked(Key(topic, index), offset, 1_000) for index in indexes]


class Reader:
    """Who asks, with the time at hand."""

    def __init__(self, sessions: FetchSessions) -> None:
        self.sessions = sessions
        self.now_ms = 0

    def fetch(
        self,
        wanted: Sequence[Asked],
        *,
        session_id: int = NO_SESSION,
        epoch: int = INITIAL_EPOCH,
        forgotten: Sequence[Key] = (),
        uses_topic_ids: bool = False,
        is_follower: bool = False,
    ) -> Fetch:
        return self.sessions.begin(
            list(wanted),
            forgotten,
            session_id=session_id,
            epoch=epoch,
            uses_topic_ids=uses_topic_ids,
            is_follower=is_follower,
            now_ms=self.now_ms,
        )

    def new(self, *indexes: int, is_follower: bool = False) -> Session:
        session = self.fetch(asked(*indexes), is_follower=is_follower).session
        assert session is not None
        return session


@pytest.fixture
def reader() -> Reader:
    return Reader(FetchSessions(10, count(1).__next__))


def indexes(fetch: Fetch) -> list[int]:
    return [each.key.partition_index for each in fetch.asked]


def test_a_full_fetch_may_want_a_session(reader: Reader) -> None:
    fetch = reader.fetch(asked(0, 1))
    assert fetch.session is not None
    assert (fetch.session.id, fetch.session.epoch, fetch.is_incremental) == (1, 1, False)
    assert indexes(fetch) == [0, 1]
    assert (len(reader.sessions), reader.sessions.partition_count) == (1, 2)


def test_a_full_fetch_of_nothing_gets_a_session_to_add_to(reader: Reader) -> None:
    session = reader.fetch([]).session
    assert session is not None
    assert indexes(reader.fetch(asked(3), session_id=session.id, epoch=1)) == [3]


def test_the_last_fetch_of_a_session_is_whole_and_closes_it(reader: Reader) -> None:
    session = reader.new(0)
    fetch = reader.fetch(asked(3), session_id=session.id, epoch=FINAL_EPOCH)
    assert (fetch.session, indexes(fetch), len(reader.sessions)) == (None, [3], 0)


def test_a_session_may_be_replaced_by_a_new_one(reader: Reader) -> None:
    old = reader.new(0)
    fetch = reader.fetch(asked(1), session_id=old.id, epoch=INITIAL_EPOCH)
    assert fetch.session is not None
    assert fetch.session.id != old.id
    assert len(reader.sessions) == 1


def test_an_incremental_fetch_names_only_what_changes(reader: Reader) -> None:
    session = reader.new(0, 1, 2)
    fetch = reader.fetch(
        asked(1, 5, offset=7),
        session_id=session.id,
        epoch=1,
        forgotten=[Key("orders", 0), Key("orders", 99)],
    )
    assert fetch.is_incremental
    assert indexes(fetch) == [1, 2, 5]
    assert [each.fetch_offset for each in fetch.asked] == [7, 0, 7]
    assert session.epoch == 2


def test_epochs_follow_each_other_and_begin_again_at_one(reader: Reader) -> None:
    session = reader.new(0)
    for epoch in (1, 2, 3):
        reader.fetch([], session_id=session.id, epoch=epoch)
    session.epoch = LAST_EPOCH
    reader.fetch([], session_id=session.id, epoch=LAST_EPOCH)
    assert session.epoch == 1


@pytest.mark.parametrize("epoch", [2, 7, LAST_EPOCH])
def test_the_wrong_epoch_is_refused_and_changes_nothing(reader: Reader, epoch: int) -> None:
    session = reader.new(0)
    with pytest.raises(KafkaError) as refused:
        reader.fetch(asked(9), session_id=session.id, epoch=epoch)
    assert refused.value.code is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert indexes(reader.fetch([], session_id=session.id, epoch=1)) == [0]


@pytest.mark.parametrize("session_id", [NO_SESSION, 99])
def test_a_session_that_is_not_known_is_refused(reader: Reader, session_id: int) -> None:
    with pytest.raises(KafkaError) as refused:
        reader.fetch([], session_id=session_id, epoch=1)
    assert refused.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_keeps_to_names_or_to_ids(reader: Reader) -> None:
    session = reader.new(0)
    with pytest.raises(KafkaError) as refused:
        reader.fetch([], session_id=session.id, epoch=1, uses_topic_ids=True)
    assert refused.value.code is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_session_that_has_nothing_left_is_closed(reader: Reader) -> None:
    session = reader.new(0)
    fetch = reader.fetch([], session_id=session.id, epoch=1, forgotten=[Key("orders", 0)])
    assert (fetch.session, fetch.asked, len(reader.sessions)) == (None, [], 0)


KEY = Key("orders", 0)


def told(
    *, error: ErrorCode = ErrorCode.NONE, high: int = 5, start: int = 0, records: bool = False
) -> Told:
    return Told(error, high, start, records)


def test_only_what_changed_is_news(reader: Reader) -> None:
    session = reader.new(0)
    assert session.is_news(KEY, told())  # never heard before
    assert not session.is_news(KEY, told())
    assert session.is_news(KEY, told(high=6))
    assert session.is_news(KEY, told(high=6, start=1))
    assert session.is_news(KEY, told(high=6, start=1, records=True))
    assert session.is_news(KEY, Told(ErrorCode.NONE, 6, 1, has_records=False, has_more=True))
    assert not session.is_news(KEY, told(high=6, start=1))


def test_an_error_is_always_news_and_so_is_its_end(reader: Reader) -> None:
    session = reader.new(0)
    session.is_news(KEY, told())
    for _ in range(2):
        assert session.is_news(KEY, told(error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
    assert session.is_news(KEY, told())
    assert not session.is_news(KEY, told())


def test_a_forgotten_partition_that_is_back_is_news(reader: Reader) -> None:
    session = reader.new(0, 1)
    session.is_news(KEY, told())
    reader.fetch([], session_id=session.id, epoch=1, forgotten=[KEY])
    reader.fetch(asked(0), session_id=session.id, epoch=2)
    assert session.is_news(KEY, told())


def test_whoever_had_records_goes_to_the_end(reader: Reader) -> None:
    session = reader.new(0, 1, 2)
    session.is_news(Key("orders", 1), told(records=True))
    assert indexes(reader.fetch([], session_id=session.id, epoch=1)) == [0, 2, 1]
    session.is_news(Key("orders", 0), told(records=True))
    assert indexes(reader.fetch([], session_id=session.id, epoch=2)) == [2, 1, 0]


def test_a_full_fetch_leaves_the_order_as_it_was_asked_for(reader: Reader) -> None:
    session = reader.new(0, 1)
    session.is_news(KEY, told(records=True), is_incremental=False)
    assert indexes(reader.fetch([], session_id=session.id, epoch=1)) == [0, 1]


class TestFullCache:
    """Two slots, both taken at time 0."""

    @pytest.fixture
    def full(self) -> Reader:
        reader = Reader(FetchSessions(2, count(1).__next__))
        reader.new(0, 1)
        reader.new(0, 1, 2)
        return reader

    def test_it_gives_no_session(self, full: Reader) -> None:
        fetch = full.fetch(asked(*range(9)))
        assert (fetch.session, len(fetch.asked), full.sessions.evictions) == (None, 9, 0)

    def test_the_longest_silent_goes_after_two_minutes(self, full: Reader) -> None:
        full.now_ms = EVICTABLE_AFTER_MS
        full.fetch([], session_id=1, epoch=1)  # so the second is the silent one
        full.now_ms = EVICTABLE_AFTER_MS + 1
        assert full.new(0).id == 3
        assert full.sessions.evictions == 1
        full.fetch([], session_id=1, epoch=2)
        with pytest.raises(KafkaError):
            full.fetch([], session_id=2, epoch=1)

    def test_of_busy_ones_a_smaller_one_goes_when_it_had_its_time(self, full: Reader) -> None:
        full.now_ms = EVICTABLE_AFTER_MS + 1
        for number in (1, 2):
            full.fetch([], session_id=number, epoch=1)
        assert full.fetch(asked(0, 1)).session is None  # not larger than the smallest
        assert full.new(0, 1, 2).id == 3
        with pytest.raises(KafkaError):
            full.fetch([], session_id=1, epoch=2)

    def test_a_follower_comes_before_larger_consumers(self, full: Reader) -> None:
        full.now_ms = EVICTABLE_AFTER_MS + 1
        for number in (1, 2):
            full.fetch([], session_id=number, epoch=1)
        follower = full.new(0, is_follower=True)
        full.now_ms *= 2
        full.fetch([], session_id=2, epoch=2)
        full.fetch([], session_id=follower.id, epoch=1)
        full.now_ms += 1
        assert full.new(*range(50)).id == 4  # takes the consumer's place
        full.fetch([], session_id=follower.id, epoch=2)


def test_without_slots_there_are_no_sessions() -> None:
    assert Reader(FetchSessions(0, count(1).__next__)).fetch(asked(0)).session is None


def test_ids_that_are_taken_or_mean_none_are_drawn_again() -> None:
    reader = Reader(FetchSessions(5, iter([0, 7, 7, 0, 8]).__next__))
    assert [reader.new(0).id, reader.new(0).id] == [7, 8]
