"""What a task says is found again in what Spark makes of it."""

from __future__ import annotations

import pytest

from ottla.pipelines.reading.stopping import (
    RuleStopsPipeline,
    SchemaIsWider,
    Stopped,
    StopsPipeline,
    stopped_by,
)

PAGES = (
    "Job aborted due to stage failure: Traceback:\n  File x\nStop: {}\n\n\tat org.apache.spark\n"
)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (RuleStopsPipeline("not_null(id)", "views-0 at 7"), ("not_null(id): views-0 at 7", False)),
        (StopsPipeline("it is over"), ("it is over", False)),
        (SchemaIsWider("schema 2:\n  n: int\nFix it"), ("schema 2:\n  n: int\nFix it", True)),
        (StopsPipeline(r"a literal \n stays"), (r"a literal \n stays", False)),
    ],
)
def test_its_sentence_comes_out_whole(said: StopsPipeline, heard: tuple[str, bool]) -> None:
    assert stopped_by(PAGES.format(said)) == Stopped(*heard)


def test_any_other_end_says_nothing() -> None:
    assert stopped_by(PAGES.format("ValueError: no")) is None
