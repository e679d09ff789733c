"""Prints transactions: as coordinators list them, and as they lie open in partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.admin.cluster import TopicPartition
from ottla.admin.stability import Stability
from ottla.admin.transaction_verdicts import Judged, KnownTransaction
from ottla.cli.durations import show_duration
from ottla.cli.group_output import assignment_in_words
from ottla.cli.outcomes import count
from ottla.cli.output import print_table, visible
from ottla.cli.transaction_words import (
    Entry,
    age_in_words,
    verdict_in_words,
    why,
    written_by,
)

_LISTED = (
    "transactional id", "state", "producer", "epoch", "open for", "time left", "coordinator",
    "partitions",
)  # fmt: skip
_HANGING = (
    "topic", "partition", "producer", "epoch", "start offset", "open for", "silent for", "why",
)  # fmt: skip


def print_list(transactions: Sequence[KnownTransaction], *, now_ms: int) -> None:
    print_table(_LISTED, [_listed_row(each, now_ms) for each in transactions])


def print_hanging(
    found: Sequence[Judged], told: Mapping[TopicPartition, Entry], *, now_ms: int
) -> None:
    rows = [
        _hanging_row(each, told.get(TopicPartition(*each.open.partition)), now_ms) for each in found
    ]
    print_table(_HANGING, rows)


def summary(known: KnownTransaction, *, now_ms: int) -> str:
    """`etl-1: Ongoing for 2m, times out in 13m; producer 7 (epoch 2), …`."""
    words = f"{known.transactional_id}: {known.state}"
    if known.started_ms is not None:
        words += f" for {age_in_words(known.started_ms, now_ms)}"
    if (left_ms := known.left_ms(now_ms)) is not None:
        words += f", times out in {show_duration(max(0, left_ms))}"
    producer = f"producer {known.producer_id} (epoch {known.producer_epoch})"
    partitions = count(len(known.partitions), "partition")
    return f"{words}; {producer}, coordinator {known.coordinator}, {partitions}"


def known_to_json(known: KnownTransaction, *, now_ms: int) -> dict[str, object]:
    return {
        "transactional_id": known.transactional_id,
        "state": known.state,
        "producer_id": known.producer_id,
        "producer_epoch": known.producer_epoch,
        "timeout_ms": known.timeout_ms,
        "started_ms": known.started_ms,
        "open_ms": _since(known.started_ms, now_ms),
        "coordinator": known.coordinator,
        "partitions": [{"topic": topic, "partition": index} for topic, index in known.partitions],
    }


def stability_to_json(
    stability: Stability, told: Entry | None, *, now_ms: int
) -> dict[str, object]:
    """`clients` and `waiting` are null where no broker of Ottla's was asked."""
    return {
        "topic": stability.partition.topic,
        "partition": stability.partition.partition,
        "last_stable_offset": stability.last_stable_offset,
        "high_watermark": stability.high_watermark,
        "held_back": stability.held_back,
        "open": [judged_to_json(each, told, now_ms=now_ms) for each in stability.open],
        "waiting": None if told is None else told["waiting"],
    }


def judged_to_json(judged: Judged, told: Entry | None, *, now_ms: int) -> dict[str, object]:
    opened, known = judged.open, judged.known
    written = told["transactions"] if told is not None else []
    client = next((each for each in written if each["producer_id"] == opened.producer_id), None)
    return {
        "topic": opened.partition[0],
        "partition": opened.partition[1],
        "producer_id": opened.producer_id,
        "producer_epoch": opened.producer_epoch,
        "coordinator_epoch": opened.coordinator_epoch,
        "start_offset": opened.start_offset,
        "last_write_ms": opened.last_write_ms,
        "began_ms": judged.began_ms,
        "open_ms": _since(judged.began_ms, now_ms),
        "verdict": judged.verdict.value,
        "why": why(judged, now_ms=now_ms),
        "transactional_id": known.transactional_id if known else None,
        "state": known.state if known else None,
        "coordinator": known.coordinator if known else None,
        "client_id": client["client_id"] if client else None,
        "client_address": client["client_address"] if client else None,
    }


def _since(moment_ms: int | None, now_ms: int) -> int | None:
    return None if moment_ms is None else max(0, now_ms - moment_ms)


def _listed_row(known: KnownTransaction, now_ms: int) -> tuple[str, ...]:
    left_ms = known.left_ms(now_ms)
    return (
        visible(known.transactional_id),
        known.state,
        str(known.producer_id),
        str(known.producer_epoch),
        age_in_words(known.started_ms, now_ms),
        "-" if left_ms is None else show_duration(max(0, left_ms)),
        str(known.coordinator),
        visible(assignment_in_words(known.partitions)),
    )


def _hanging_row(judged: Judged, told: Entry | None, now_ms: int) -> tuple[str, ...]:
    opened = judged.open
    reasons = (written_by(judged, told), verdict_in_words(judged, now_ms=now_ms))
    return (
        visible(opened.partition[0]),
        str(opened.partition[1]),
        str(opened.producer_id),
        str(opened.producer_epoch),
        str(opened.start_offset),
        age_in_words(judged.began_ms, now_ms),
        age_in_words(opened.last_write_ms, now_ms),
        visible("; ".join(each for each in reasons if each is not None)),
    )
