"""Several runs on one session."""

from __future__ import annotations

from typing import Any

from ottla.pipelines.running.run import RunFailed
from ottla.pipelines.running.together import run_together


class Story:
    """A run that ends, or fails, after so many looks, or once it is stopped."""

    def __init__(self, looks: int, *, fails: bool = False) -> None:
        self._looks = looks
        self._fails = fails
        self.stops = 0

    def wait(self, seconds: float) -> bool:
        self._looks -= 1
        if self._looks > 0 and not self.stops:
            return False
        if self._fails:
            raise RunFailed("it failed")
        return True

    def stop(self) -> None:
        self.stops += 1


def told(*stories: Story, stop_after: int = 1_000) -> tuple[bool, list[str]]:
    failures: list[str] = []
    asked = iter([False] * stop_after + [True] * 1_000)
    runs: Any = stories
    is_well = run_together(
        runs,
        stop_asked=lambda: next(asked),
        on_failure=lambda failure: failures.append(str(failure)),
    )
    return is_well, failures


def test_it_lasts_until_all_have_ended() -> None:
    assert told(Story(1), Story(5)) == (True, [])


def test_one_that_fails_leaves_the_others_alone() -> None:
    other = Story(5)
    assert told(Story(2, fails=True), other) == (False, ["it failed"])
    assert other.stops == 0


def test_all_are_told_once_to_stop() -> None:
    stories = Story(1_000), Story(1_000)
    assert told(*stories, stop_after=3) == (True, [])
    assert [story.stops for story in stories] == [1, 1]
