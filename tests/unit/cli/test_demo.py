"""The demo's traffic and what it shows of it."""

from __future__ import annotations

import io
import json

from rich.console import Console

from ottla.cli.demo_traffic import Traffic
from ottla.cli.demo_view import Counted, Facts, TopicFacts, line, rendered
from tests.unit.cli.test_pipeline_status import STATUS

FACTS = Facts(
    "127.0.0.1:9092",
    "/data",
    [TopicFacts("page-views", 1_234, 50.0)],
    [STATUS],
    {STATUS.pipeline: 17},
    [Counted("/shop/tea", "2026-01-31 12:00:00", 12, 33.3)],
    "",
)


def test_the_same_seed_makes_the_same_traffic() -> None:
    one, other = Traffic(1), Traffic(1)
    assert [one.next(5) for _ in range(100)] == [other.next(5) for _ in range(100)]


def test_most_views_can_be_read_and_some_are_wrong_in_every_way() -> None:
    traffic = Traffic(1)
    values = [traffic.next(0).value for _ in range(2_000)]
    broken, views = [], []
    for value in values:
        try:
            views.append(json.loads(value))
        except ValueError:
            broken.append(value)
    assert 10 < len(broken) < 100
    assert any(value.startswith(b"\xff") for value in broken)
    assert [view for view in views if view["country"] is None]
    assert [view for view in views if isinstance(view["seconds"], str)]
    assert len({view["event_id"] for view in views}) == len(views)


def test_everything_is_on_the_screen() -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(rendered(FACTS))
    text = console.export_text()
    for word in ("1,234", "running", "17", "/shop/tea", "ottla pipeline status --state /data/"):
        assert word in text


def test_a_pipe_gets_it_in_one_line() -> None:
    assert line(FACTS) == ("offsets: page-views 1,234; dead letters: 3; views counted: 12")
    assert line(FACTS._replace(words="Spark is starting …")).endswith("; Spark is starting …")
