"""`ottla transactions abort`: ends a transaction in one partition, in its coordinator's place."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.admin import open_transactions as admin
from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.stability import Stability, Transactions
from ottla.admin.topics import check_partitions
from ottla.admin.transaction_verdicts import Judged, Verdict
from ottla.cli.connecting import (
    DEFAULT_BOOTSTRAP,
    AsJson,
    Bootstrap,
    Yes,
    complete_topic,
    confirm,
    on_cluster,
    parse_partition,
)
from ottla.cli.failure import fail
from ottla.cli.outcomes import Outcomes
from ottla.cli.transaction_words import why
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.timing.clock import SystemClock

Where = Annotated[
    str,
    typer.Argument(metavar="TOPIC:PARTITION", autocompletion=complete_topic, show_default=False),
]
StartOffset = Annotated[
    int | None, typer.Option(min=0, help="Where it began, as find-hanging tells.")
]
ProducerId = Annotated[
    int | None, typer.Option(min=0, help="For brokers before Kafka 3.0, which cannot be asked.")
]
ProducerEpoch = Annotated[int | None, typer.Option(min=0, help="With --producer-id.")]
CoordinatorEpoch = Annotated[int | None, typer.Option(min=-1, help="With --producer-id.")]
Force = Annotated[
    bool, typer.Option("--force", help="Even if its coordinator would end it, and perhaps commit.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be aborted.")]
_NOT_HANGING = (
    "It does not hang: its coordinator ends it, and to abort it only here would tear it apart. "
    "Stop its producer and wait, or say --force."
)
Marker = tuple[int, int, int]  # producer id, producer epoch, coordinator epoch


def abort(
    where: Where,
    *,
    start_offset: StartOffset = None,
    producer_id: ProducerId = None,
    producer_epoch: ProducerEpoch = None,
    coordinator_epoch: CoordinatorEpoch = None,
    force: Force = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Abort a hanging transaction in one partition. On a terminal you are asked first.

    read_committed consumers then go on, and never see what it wrote there. A transaction that
    its coordinator will end is refused without `--force`: aborted here and committed elsewhere it
    would be torn apart. With `--start-offset` the leader is asked who began there; otherwise give
    `--producer-id`, `--producer-epoch` and `--coordinator-epoch`, and nothing is checked. The
    objects of `--json` have the keys `topic`, `partition`, `producer_id`, `producer_epoch`,
    `coordinator_epoch`, `aborted` and `error`.

    Exit code: 0 aborted, or told; 1 refused; 2 wrong call.

    Examples:

    - `ottla transactions abort orders:3 --start-offset 120`
    - `ottla transactions abort orders:3 --start-offset 120 --dry-run`
    """
    partition = parse_partition(where)
    given = (producer_id, producer_epoch, coordinator_epoch)
    if start_offset is None:
        marker, about = _given(given), f"producer {producer_id} (epoch {producer_epoch})"
    elif given != (None, None, None):
        raise typer.BadParameter("--start-offset says it all: leave the ids and epochs out.")
    else:
        judged = on_cluster(bootstrap, lambda cluster: _find(cluster, partition, start_offset))
        about = why(judged, now_ms=SystemClock().now_ms())
        if judged.verdict is not Verdict.HANGING and not force:
            fail(f"{about}. {_NOT_HANGING}")
        opened = judged.open
        marker = (opened.producer_id, opened.producer_epoch, opened.coordinator_epoch)
    if not dry_run:
        confirm(f"{about}.\nAbort it in {partition}?", yes=yes)
    _write(partition, marker, about, dry_run=dry_run, bootstrap=bootstrap, as_json=as_json)


def _write(
    partition: TopicPartition,
    marker: Marker,
    about: str,
    *,
    dry_run: bool,
    bootstrap: str,
    as_json: bool,
) -> None:
    producer_id, producer_epoch, coordinator_epoch = marker

    async def write(cluster: Cluster) -> KafkaError | None:
        await check_partitions(cluster, [partition])
        return await admin.abort(
            cluster,
            partition,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
        )

    refused = None if dry_run else on_cluster(bootstrap, write)
    outcomes = Outcomes(as_json=as_json)
    told = {
        "topic": partition.topic,
        "partition": partition.partition,
        "producer_id": producer_id,
        "producer_epoch": producer_epoch,
        "coordinator_epoch": coordinator_epoch,
        "aborted": refused is None and not dry_run,
    }
    if refused is not None:
        outcomes.refused(told, str(partition), refused)
    elif dry_run:
        outcomes.done(told, f"Would abort in {partition}: {about}.")
    else:
        outcomes.done(told, f"Aborted what producer {producer_id} had open in {partition}.")
    outcomes.finish()


def _given(given: tuple[int | None, int | None, int | None]) -> Marker:
    producer_id, producer_epoch, coordinator_epoch = given
    if producer_id is None or producer_epoch is None or coordinator_epoch is None:
        raise typer.BadParameter(
            "give --start-offset; or --producer-id, --producer-epoch and --coordinator-epoch."
        )
    return producer_id, producer_epoch, coordinator_epoch


async def _find(cluster: Cluster, partition: TopicPartition, start_offset: int) -> Judged:
    await check_partitions(cluster, [partition])
    view = Transactions(cluster, SystemClock())
    judged = await _look_at(view, partition, start_offset)
    if judged.verdict is not Verdict.HANGING:
        return judged
    # Was it ended between our questions, the marker would hit what its producer began next.
    return await _look_at(view, partition, start_offset)


async def _look_at(view: Transactions, partition: TopicPartition, start_offset: int) -> Judged:
    looked = (await view.look([partition]))[partition]
    if isinstance(looked, KafkaError):
        raise looked
    for each in looked.open:
        if each.open.start_offset == start_offset:
            return each
    raise KafkaError(ErrorCode.INVALID_TXN_STATE, _nothing_there(looked, start_offset))


def _nothing_there(looked: Stability, start_offset: int) -> str:
    opened = [
        f"{each.open.start_offset} (producer {each.open.producer_id})" for each in looked.open
    ]
    others = f"those that are open began at {', '.join(opened)}" if opened else "none is open there"
    return f"no open transaction began at offset {start_offset} in {looked.partition}; {others}."
