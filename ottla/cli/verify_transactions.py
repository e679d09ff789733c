"""`ottla verify transactions`: puts a cluster to work and checks what came of it."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from ottla.admin import confluent
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.confluent import ClientFailed
from ottla.admin.extras import MissingExtra
from ottla.admin.topics import NewTopic, create, delete, describe
from ottla.admin.transactional import TransactionalClients, settle
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, on_cluster
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.cli.progress import Counter
from ottla.cli.verify_report import tell_report
from ottla.protocol.errors import KafkaError
from ottla.timing.clock import Stopwatch, SystemClock
from ottla.verify.checker import check
from ottla.verify.clients import Place
from ottla.verify.encoding import to_lines
from ottla.verify.history import History, Recorder
from ottla.verify.stage import Plan, Stage, Stuck
from ottla.verify.workload import Workload

TRANSACTIONS_HELP = """Put a cluster to work with transactions, and check that it kept its promises.

Producers write transactions of random size over all partitions of a new topic and commit most of
them; some they abort, some are left open by a producer that is killed, until the next of the same
transactional id fences it, and some are finished by a zombie, which must be refused. Members of a
group read what is committed and write an output for each input, with their offsets, exactly
once; some die on the way. Consumers read along, in both isolations. In the end everything is
read, and the whole history is checked, as by `ottla verify history`.

Works on Ottla and on Apache Kafka; kill brokers meanwhile, if you like. Needs
`pip install 'ottla[cli]'`. The topics are deleted in the end, unless `--keep`. Ctrl-C stops it, and
what was done is checked.

Exit code: 0 nothing is wrong; 1 something is, or the cluster did not answer; 2 wrong call.

Examples:

- `ottla verify transactions`
- `ottla verify transactions --transactions 5000 --producers 8 --partitions 6 --history run.jsonl`
- `ottla verify transactions --seed 42 --json`
"""
_SEEDS = 1_000_000

AbortShare = Annotated[float, typer.Option(min=0, max=1, help="Of transactions, aborted.")]
KillShare = Annotated[float, typer.Option(min=0, max=1, help="Left open by a killed producer.")]
ZombieShare = Annotated[float, typer.Option(min=0, max=1, help="Finished by a zombie.")]


def verify_transactions(
    *,
    transactions: Annotated[
        int, typer.Option("--transactions", "-n", min=1, help="Of all producers together.")
    ] = 200,
    producers: Annotated[int, typer.Option(min=1, help="Each with a transactional id.")] = 4,
    partitions: Annotated[int, typer.Option("--partitions", "-p", min=1)] = 3,
    records: Annotated[int, typer.Option(min=1, help="At most, in one transaction.")] = 10,
    members: Annotated[int, typer.Option(min=0, help="Of the group that transforms.")] = 2,
    readers: Annotated[int, typer.Option(min=0, help="Consumers that read along.")] = 2,
    abort_share: AbortShare = 0.2,
    kill_share: KillShare = 0.1,
    zombie_share: ZombieShare = 0.05,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeats the draws of a run.", show_default=False)
    ] = None,
    replication_factor: Annotated[
        int, typer.Option(min=-1, help="Of the topics; -1: the broker's default.")
    ] = -1,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Save what was done.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Do not delete the topics.")] = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    if abort_share + kill_share + zombie_share > 1:
        raise typer.BadParameter("--abort-share, --kill-share and --zombie-share exceed 1.")
    now_ms = SystemClock().now_ms()
    seed = now_ms % _SEEDS if seed is None else seed
    name = f"ottla-verify-{now_ms}"
    plan = Plan(
        f"{name}-in",
        f"{name}-out",
        group=name,
        partitions=partitions,
        producers=producers,
        members=members,
        readers=readers,
        transactions=transactions,
        records=records,
        abort_share=abort_share,
        kill_share=kill_share,
        zombie_share=zombie_share,
    )
    recorded, trouble = _recorded(plan, seed, bootstrap, replication_factor, keep=keep)
    if history is not None:
        _save(recorded, history)
    _tell(recorded, trouble, seed, as_json=as_json)


def _tell(recorded: History, trouble: str, seed: int, *, as_json: bool) -> None:
    if trouble:
        typer.echo(f"ottla: {trouble}. The seed was {seed}.", err=True)
    tell_report(check(recorded), {"seed": seed, "trouble": trouble}, as_json=as_json)
    if trouble:
        raise typer.Exit(1)


def _recorded(
    plan: Plan, seed: int, bootstrap: str, replication_factor: int, *, keep: bool
) -> tuple[History, str]:
    """What happened, and what stopped it before its end, if anything."""
    stopwatch = Stopwatch()
    recorder = Recorder(lambda: round(stopwatch.elapsed_s() * 1_000_000))
    try:
        confluent.load()
    except MissingExtra as cause:
        fail(f"{cause}.")
    topics = [plan.input_topic, plan.output_topic]
    on_cluster(bootstrap, lambda cluster: _create(cluster, topics, plan, replication_factor))
    clients = _Clients(bootstrap)
    stage = Stage(clients, plan, recorder, seed=seed, elapsed_s=stopwatch.elapsed_s)
    trouble = ""
    try:
        _work(Workload(stage), plan)
    except (ClientFailed, Stuck) as cause:
        trouble = str(cause)
    finally:
        if not keep:
            # A cluster that is gone has been told of; what was recorded is still worth a look.
            with suppress(typer.Exit):
                on_cluster(bootstrap, lambda cluster: delete(cluster, topics))
    return recorder.history(), trouble


def _work(workload: Workload, plan: Plan) -> None:
    with (
        Interruption(signal.SIGTERM) as interruption,
        Counter("transactions", total=plan.transactions) as counter,
    ):
        workload.run(counter.show, lambda: interruption.requested)
        workload.finish()


class _Clients(TransactionalClients):
    """They can wait for the cluster, too."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        self._bootstrap = bootstrap

    def settle(self, partitions: Sequence[Place]) -> str:
        places = [TopicPartition(*each) for each in partitions]
        try:
            return on_cluster(self._bootstrap, lambda cluster: settle(cluster, places))
        except typer.Exit:
            return "what is left cannot be read"


async def _create(cluster: Cluster, names: list[str], plan: Plan, replication_factor: int) -> None:
    wanted = [NewTopic(name, plan.partitions, replication_factor) for name in names]
    for answer in (await create(cluster, wanted)).values():
        if isinstance(answer, KafkaError):
            raise answer
    await describe(cluster, names)


def _save(history: History, file: Path) -> None:
    try:
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in to_lines(history))
    except OSError as cause:
        fail(f"{file} cannot be written: {cause}.")
