"""Clients that are kept for the next task."""

from __future__ import annotations

import pytest

from ottla.pipelines.datasource.clients import Pool


class Client:
    def __init__(self, settings: dict[str, object]) -> None:
        self.settings = settings


def test_the_next_task_gets_the_same_client() -> None:
    pool = Pool(Client)
    with pool.lent({"a": 1, "b": 2}) as first:
        pass
    with pool.lent({"b": 2, "a": 1}) as second:
        assert second is first
        assert second.settings == {"a": 1, "b": 2}


def test_other_settings_or_another_purpose_need_another_client() -> None:
    pool = Pool(Client)
    with pool.lent({"a": 1}, purpose="orders") as first:
        pass
    with pool.lent({"a": 2}, purpose="orders") as second, pool.lent({"a": 1}) as third:
        assert len({id(first), id(second), id(third)}) == 3


def test_two_tasks_at_once_never_share_a_client() -> None:
    pool = Pool(Client)
    with pool.lent({}) as first, pool.lent({}) as second:
        assert first is not second


def test_a_client_whose_task_failed_is_not_used_again() -> None:
    pool = Pool(Client)
    with pytest.raises(ValueError, match="broken"), pool.lent({}) as first:
        raise ValueError("broken")
    with pool.lent({}) as second:
        assert second is not first


def test_those_that_nobody_needed_for_long_are_dropped() -> None:
    pool = Pool(Client)
    made = []
    for number in range(20):
        with pool.lent({"number": number}) as client:
            made.append(client)
    with pool.lent({"number": 0}) as oldest, pool.lent({"number": 19}) as newest:
        assert oldest is not made[0]
        assert newest is made[19]
