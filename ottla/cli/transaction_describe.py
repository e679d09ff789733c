"""`ottla transactions describe`: what is open in partitions, and why readers are held back."""

from __future__ import annotations

import json
from collections.abc import Sequence

import typer

from ottla.admin import transactions as admin
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.stability import Stability, Transactions
from ottla.admin.transaction_verdicts import KnownTransaction
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, on_cluster
from ottla.cli.outcomes import sentence
from ottla.cli.output import visible
from ottla.cli.transaction_names import SomeTransactions, Topics, chosen_partitions
from ottla.cli.transaction_output import known_to_json, stability_to_json, summary
from ottla.cli.transaction_port import Urls, ask_brokers
from ottla.cli.transaction_words import Entry, story
from ottla.protocol.errors import KafkaError
from ottla.timing.clock import SystemClock

Looked = dict[TopicPartition, Stability | KafkaError]


def describe(
    ids: SomeTransactions = None,
    *,
    topic: Topics = None,
    url: Urls = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Tell what is open in partitions, and why read_committed consumers do not see the rest.

    By transactional id, by topic or partition, or, with neither, all partitions of the cluster
    that are held back. `--url` also tells which client wrote and which consumers wait, which only
    Ottla's brokers know. The objects of `--json` are partitions, with the keys `topic`,
    `partition`, `last_stable_offset`, `high_watermark`, `held_back` (records), `open` and
    `waiting`; with transactional ids they are those of `list`, and the partitions are in
    `partitions`. Among the keys in `open` are `producer_id`, `start_offset`, `open_ms`, `verdict`
    (ongoing, overdue, ending or hanging), `transactional_id`, `client_id` and `why`.

    Exit code: 0 told; 1 there is no such transactional id, or refused by a broker; 2 wrong call.

    Examples:

    - `ottla transactions describe`
    - `ottla transactions describe etl-1 --url http://127.0.0.1:9600`
    - `ottla transactions describe --topic orders:3 --json`
    """
    output = _Output(ask_brokers(url or ()))
    if ids:
        for known, looked in on_cluster(bootstrap, lambda cluster: _by_id(cluster, ids)):
            output.transaction(known, looked)
    if topic or not ids:
        looked = on_cluster(bootstrap, lambda cluster: _by_partition(cluster, topic or ()))
        output.partitions(looked, only_held_back=not topic)
    output.finish(as_json=as_json)


async def _by_id(cluster: Cluster, ids: Sequence[str]) -> list[tuple[KnownTransaction, Looked]]:
    view = Transactions(cluster, SystemClock())
    found = [await admin.describe(cluster, each) for each in dict.fromkeys(ids)]
    return [
        (each, await view.look([TopicPartition(*named) for named in each.partitions]))
        for each in found
    ]


async def _by_partition(cluster: Cluster, where: Sequence[str]) -> Looked:
    partitions = await chosen_partitions(cluster, where)
    return await Transactions(cluster, SystemClock()).look(partitions)


class _Output:
    """Collects what was found, as lines and as objects."""

    def __init__(self, told: dict[TopicPartition, Entry]) -> None:
        self._told = told
        self._lines: list[str] = []
        self._objects: list[dict[str, object]] = []
        self._refusals: list[str] = []

    def transaction(self, known: KnownTransaction, looked: Looked) -> None:
        now_ms = SystemClock().now_ms()
        self._lines.append(summary(known, now_ms=now_ms))
        found = self._sound(looked)
        for each in found:
            lines = story(each, self._told.get(each.partition), now_ms=now_ms)
            self._lines += [f"    {line}" for line in lines]
        document = known_to_json(known, now_ms=now_ms)
        document["partitions"] = self._to_json(found, now_ms)
        self._objects.append(document)

    def partitions(self, looked: Looked, *, only_held_back: bool) -> None:
        now_ms = SystemClock().now_ms()
        found = self._sound(looked)
        if only_held_back:
            found = [each for each in found if each.stands_still]
        for each in found:
            self._lines += story(each, self._told.get(each.partition), now_ms=now_ms)
        if not found:
            self._lines.append("No transaction is open: read_committed consumers see everything.")
        self._objects += self._to_json(found, now_ms)

    def finish(self, *, as_json: bool) -> None:
        if as_json:
            typer.echo(json.dumps(self._objects, indent=2))
        else:
            typer.echo("\n".join(map(visible, self._lines)))
        for line in self._refusals:
            typer.echo(visible(line), err=True)
        if self._refusals:
            raise typer.Exit(1)

    def _sound(self, looked: Looked) -> list[Stability]:
        for partition, found in looked.items():
            if isinstance(found, KafkaError):
                self._refusals.append(f"ottla: {partition}: {sentence(found)}")
        return [each for each in looked.values() if isinstance(each, Stability)]

    def _to_json(self, found: Sequence[Stability], now_ms: int) -> list[dict[str, object]]:
        return [
            stability_to_json(each, self._told.get(each.partition), now_ms=now_ms) for each in found
        ]
