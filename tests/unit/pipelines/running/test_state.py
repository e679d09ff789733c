"""What outlives a pipeline's runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipelines.running.positions import kept_start
from ottla.pipelines.running.state import NewerState, Remembered, StateFolder, pipelines_of
from ottla.pipelines.running.status import BatchDone, State, Status, after_batch

MEMORY = Remembered(3, ("a", "b"), "console", {"a": {"type": "struct"}}, ("Aggregate",), "p.py:1")
STATUS = Status(
    pipeline="visits",
    state=State.STARTING,
    group="pipeline.visits",
    bootstrap="127.0.0.1:9092",
    sink="console",
    guarantee="none",
    topics=("a",),
    pid=1,
    host="here",
    started_ms=1_000,
    updated_ms=1_000,
)


def test_what_is_remembered_comes_back(tmp_path: Path) -> None:
    state = StateFolder(str(tmp_path), "visits")
    assert state.remembered() is None
    state.remember(MEMORY)
    assert StateFolder(f"{tmp_path}/", "visits").remembered() == MEMORY


def test_a_folder_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    state = StateFolder(str(tmp_path), "visits")
    state.folder.write("pipeline.json", b'{"format": 9}')
    with pytest.raises(NewerState, match=r"written by a newer Ottla \(format 9, this one knows 1"):
        state.remembered()


def test_only_those_that_ran_are_listed(tmp_path: Path) -> None:
    StateFolder(str(tmp_path), "visits").remember(MEMORY)
    (tmp_path / "something-else").mkdir()
    assert pipelines_of(str(tmp_path)) == ["visits"]
    assert pipelines_of(str(tmp_path / "nowhere")) == []


def test_a_stop_lasts_until_it_is_resumed(tmp_path: Path) -> None:
    state = StateFolder(str(tmp_path), "visits")
    assert state.stop_asked_ms() is None
    state.ask_to_stop(now_ms=77)
    assert StateFolder(str(tmp_path), "visits").stop_asked_ms() == 77
    state.resume()
    assert state.stop_asked_ms() is None


def test_a_status_comes_back_as_it_was_shown(tmp_path: Path) -> None:
    state = StateFolder(str(tmp_path), "visits")
    assert state.status() is None
    state.show(STATUS)
    assert state.status() == STATUS


def test_batches_add_up_and_the_rates_are_the_last_ones() -> None:
    first = BatchDone(0, 500, 100, 90, 4, {"not_null(user)": 6}, {})
    second = BatchDone(1, 2_000, 50, 40, 1, {"not_null(user)": 1, "unique(id)": 8}, {"old(x)": 2})
    found = after_batch(after_batch(STATUS, first, now_ms=2_000), second, now_ms=5_000)
    assert (found.state, found.batch, found.updated_ms) == (State.RUNNING, 1, 5_000)
    assert (found.rows_in, found.rows_out, found.dead_letters) == (150, 130, 5)
    assert (found.in_per_s, found.out_per_s) == (25.0, 20.0)
    assert found.dropped == {"not_null(user)": 7, "unique(id)": 8}
    assert found.warned == {"old(x)": 2}


def test_a_start_is_found_once_and_then_kept(tmp_path: Path) -> None:
    folder = StateFolder(str(tmp_path), "visits").generation(0)
    found = kept_start(folder, lambda: {("b", 10): 7, ("a", 0): 3, ("b", 2): 0})
    assert found == kept_start(folder, lambda: {("a", 0): 999})
    assert folder.read("start.json") == b'{"a":{"0":3},"b":{"2":0,"10":7}}'
