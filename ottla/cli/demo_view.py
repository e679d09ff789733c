"""What the demo shows: topics, pipelines, what came of them, and where to look closer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ottla.cli.durations import show_duration
from ottla.pipelines.running.status import Status


class TopicFacts(NamedTuple):
    name: str
    end: int  # of its offsets, those of markers among them
    per_s: float


class Counted(NamedTuple):
    """A row of the table that a pipeline fills."""

    page: str
    minute: str
    views: int
    seconds: float


class Facts(NamedTuple):
    bootstrap: str
    data: str
    topics: Sequence[TopicFacts]
    pipelines: Sequence[Status]
    lags: dict[str, int]
    results: Sequence[Counted]
    words: str  # what is missing, or being waited for; empty if all is well


def rendered(facts: Facts) -> RenderableType:
    parts: list[RenderableType] = [
        Text(f"Ottla at {facts.bootstrap}, data in {facts.data}. Ctrl-C stops everything.\n"),
        _topics(facts.topics),
        _pipelines(facts.pipelines, facts.lags),
    ]
    if facts.results:
        parts.append(_results(facts.results))
    if facts.words:
        parts.append(Text(facts.words, style="yellow"))
    parts.append(Text(commands(facts.bootstrap, facts.data), style="dim"))
    return Group(*parts)


def _topics(topics: Sequence[TopicFacts]) -> Table:
    table = _table("topic", "offsets", "per second")
    for each in topics:
        table.add_row(each.name, f"{each.end:,}", f"{each.per_s:,.0f}")
    return table


def _pipelines(pipelines: Sequence[Status], lags: dict[str, int]) -> Table:
    table = _table("pipeline", "state", "in", "out", "dead letters", "dropped", "batch took", "lag")
    for each in pipelines:
        table.add_row(
            each.pipeline,
            each.state,
            f"{each.rows_in:,}",
            f"{each.rows_out:,}",
            f"{each.dead_letters:,}",
            f"{sum(each.dropped.values()):,}",
            show_duration(each.batch_ms),
            f"{lags[each.pipeline]:,}" if each.pipeline in lags else "-",
        )
    return table


def _results(results: Sequence[Counted]) -> Table:
    table = _table("page", "minute", "views", "seconds")
    for each in results:
        table.add_row(each.page, each.minute, f"{each.views:,}", f"{each.seconds:.1f}")
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def line(facts: Facts) -> str:
    """For a pipe: all of it in one line."""
    ends = ", ".join(f"{each.name} {each.end:,}" for each in facts.topics)
    dead = sum(each.dead_letters for each in facts.pipelines)
    views = sum(each.views for each in facts.results)
    said = f"; {facts.words}" if facts.words else ""
    return f"offsets: {ends}; dead letters: {dead:,}; views counted: {views:,}{said}"


def commands(bootstrap: str, data: str) -> str:
    return (
        "\nLook closer, in another terminal:\n"
        f"  ottla consume page-views-enriched --from-beginning -b {bootstrap}\n"
        f"  ottla pipeline status --state {data}/pipelines --watch\n"
        f"  ottla pipeline dead-letters list page-views.dlq -b {bootstrap}\n"
        f"  ottla groups lag pipeline.enriched -b {bootstrap}\n"
    )
