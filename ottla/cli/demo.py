"""`ottla demo`: a broker, traffic and two pipelines on Spark, live in the terminal."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live

from ottla.cli.demo_processes import Child, DidNotStart
from ottla.cli.demo_traffic import Traffic
from ottla.cli.demo_view import Counted, Facts, TopicFacts, commands, line, rendered
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.pipelines.examples import page_views
from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.running.status import Status
from ottla.timing.clock import SystemClock

_TOPICS = {"page-views": 3, "page-views-enriched": 3, "page-views.dlq": 1}
_PIPELINES = 2
_TICK_S = 0.1
_LOOK_EVERY = 10  # ticks
_LINE_EVERY = 50
_RESULTS = (
    "select page, minute, views, seconds from views_per_minute order by minute desc, views desc"
    " limit 5"
)

demo = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@demo.command()
def demo_command(
    *,
    port: Annotated[
        int, typer.Option(help="Where clients connect; 0 takes a free port.", min=0, max=65_535)
    ] = 9092,
    data: Annotated[
        str, typer.Option(help="The folder for everything it keeps.", metavar="FOLDER")
    ] = "ottla-data",
    rate: Annotated[int, typer.Option(help="Page views a second.", min=1, max=10_000)] = 50,
) -> None:
    """Start a broker with traffic and two pipelines on Spark, and watch them until Ctrl-C.

    `views-per-minute` counts page views into a table; `enriched` writes them to another topic and
    sends what nobody can read to dead letters. Spark takes some seconds to start, and needs Java
    17 or newer; without it the broker and the traffic run all the same.

    Examples:

    - `ottla demo`
    - `ottla demo --rate 1000 --port 0 --data /tmp/shop`
    """
    folder = str(Path(data).absolute())
    with Interruption(signal.SIGTERM) as interruption, _broker(port, folder) as facts:
        show = _Show(facts["bootstrap"], folder, rate)
        with _pipelines(facts["bootstrap"], folder) as spark:
            show.until(interruption, spark)
    typer.echo("Stopped. Its data stays: the next start goes on from there.", err=True)


@contextmanager
def _broker(port: int, folder: str) -> Iterator[dict[str, Any]]:
    broker = Child("up", "--port", str(port), "--data", folder, "--json", "--until-stdin-closes")
    try:
        yield broker.first_line()
    except DidNotStart as cause:
        fail(str(cause).removeprefix("ottla: "))
    finally:
        broker.stop()


@contextmanager
def _pipelines(bootstrap: str, folder: str) -> Iterator[Child | None]:
    """None without Java."""
    if shutil.which("java") is None:
        yield None
        return
    file = str(page_views.__file__)
    state = f"{folder}/pipelines"
    spark = Child(
        "pipeline", "run", file, "-b", bootstrap, "--state", state, "--json",
        environment={"OTTLA_DEMO": folder},
    )  # fmt: skip
    try:
        yield spark
    finally:
        spark.stop()


class _Show:
    """Makes the traffic, and shows what becomes of it."""

    def __init__(self, bootstrap: str, folder: str, rate: int) -> None:
        self._bootstrap = bootstrap
        self._folder = folder
        self._cluster = Cluster(bootstrap)
        self._cluster.create_topics(_TOPICS)
        self._producer = self._cluster.producer({"partitioner": "murmur2_random"})
        self._traffic = Traffic(seed=1)
        self._clock = SystemClock()
        self._rate = rate
        self._due = 0.0
        self._before: dict[str, int] = {}
        self._ends: dict[Place, int] = {}
        self._looked_ms = self._clock.now_ms()
        self._statuses: dict[str, Status] = {}

    def until(self, interruption: Interruption, spark: Child | None) -> None:
        console = Console()
        tick = 0
        with Live(console=console, auto_refresh=False, transient=True) as live:
            if not console.is_terminal:
                typer.echo(commands(self._bootstrap, self._folder))
            while not interruption.requested:
                self._produce()
                if console.is_terminal and tick % _LOOK_EVERY == 0:
                    live.update(rendered(self._facts(spark)), refresh=True)
                elif not console.is_terminal and tick % _LINE_EVERY == 0:
                    typer.echo(line(self._facts(spark)))
                    sys.stdout.flush()
                tick += 1
                interruption.wait(_TICK_S)
        self._producer.flush()

    def _produce(self) -> None:
        self._due += self._rate * _TICK_S
        while self._due >= 1:
            self._due -= 1
            view = self._traffic.next(self._clock.now_ms())
            self._producer.produce("page-views", key=view.key, value=view.value)
        self._producer.poll(0)

    def _facts(self, spark: Child | None) -> Facts:
        for found in spark.lines() if spark else ():
            status = Status.from_dict(found)
            self._statuses[status.pipeline] = status
        return Facts(
            self._bootstrap,
            self._folder,
            self._topics(),
            list(self._statuses.values()),
            {name: self._lag(name) for name in self._statuses},
            self._results(),
            self._words(spark),
        )

    def _topics(self) -> list[TopicFacts]:
        places = [(name, part) for name, count in _TOPICS.items() for part in range(count)]
        self._ends = self._cluster.ends(places)
        now_ms = self._clock.now_ms()
        seconds = max(now_ms - self._looked_ms, 1) / 1000
        self._looked_ms = now_ms
        found = []
        for name in _TOPICS:
            end = sum(each for (topic, _), each in self._ends.items() if topic == name)
            found.append(TopicFacts(name, end, (end - self._before.get(name, end)) / seconds))
            self._before[name] = end
        return found

    def _lag(self, pipeline: str) -> int:
        done = self._cluster.committed(self._statuses[pipeline].group)
        read = [place for place in self._ends if place[0] == "page-views"]
        return sum(
            self._ends[place] - (done[place].offset if place in done else 0) for place in read
        )

    def _results(self) -> list[Counted]:
        file = Path(self._folder) / "page-views.db"
        if not file.exists():
            return []
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as table:
                return [Counted(*row) for row in table.execute(_RESULTS)]
        except sqlite3.OperationalError:  # it is being made
            return []

    def _words(self, spark: Child | None) -> str:
        if spark is None:
            return (
                "The pipelines do not run: Spark needs Java 17 or newer, and there is none."
                " Install it (Debian: apt install openjdk-17-jre-headless) and start again."
            )
        if not spark.is_alive:
            return f"The pipelines have ended: {spark.words}"
        return "" if len(self._statuses) == _PIPELINES else "Spark is starting …"
