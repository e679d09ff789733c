"""What an audit found, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import typer

from ottla.cli.outcomes import count
from ottla.cli.output import print_table, visible
from ottla.pipelines.kafka import Place
from ottla.pipelines.reading.tally import MINUTE_MS, Counts, Slot, Tally
from ottla.pipelines.repair.audit import Findings
from ottla.pipelines.repair.topic_compare import Comparison, Difference, Summary

_COLUMNS = ("topic", "partition", "in", "passed", "dead", "dropped", "out")
_COMPARED = ("minute", "records left", "right", "difference", "keys")
_MOST_DIFFERENCES = 20


def print_findings(name: str, found: Findings) -> None:
    if found.batches:
        print_table(_COLUMNS, [_row(place, *both) for place, both in _by_place(found).items()])
        typer.echo(visible(_summary(name, found)))
    for rule, number in found.came_in.total().dropped.items():
        typer.echo(visible(f"Dropped by {rule}: {number:,}."))
    for (topic, partition), gap in found.gaps.items():
        proven = ", counted again" if not gap.unproven else "; --recount reads them again"
        offsets = count(gap.offsets, "offset")
        typer.echo(visible(f"{topic}:{partition}: {offsets} without a record{proven}."))
    for loss in found.losses:
        typer.echo(visible(f"Accepted as lost: {loss}."))
    if found.fault is not None:
        batch, sentence = found.fault
        typer.echo(visible(f"ottla: {name}: batch {batch} does not hold: {sentence}."), err=True)


def _summary(name: str, found: Findings) -> str:
    total = found.came_in.total()
    word = "hold" if found.holds else "held"
    return (
        f"{name}: batches {found.first_batch:,} to {found.last_batch:,} {word}: "
        f"{total.records_in:,} in = "
        f"{total.passed:,} passed + {total.dead:,} dead + {_dropped(total):,} dropped; "
        f"{count(found.rows_out, 'row')} out, {found.filtered:,} filtered by the function."
    )


def _by_place(found: Findings) -> dict[Place, tuple[Counts, Counts]]:
    """In and out, of all minutes."""
    came, went = _places(found.came_in), _places(found.went_out)
    return {place: (came[place], went.get(place, Counts())) for place in sorted(came)}


def _places(tally: Tally) -> dict[Place, Counts]:
    found: dict[Place, Counts] = {}
    for slot, counts in tally.counts.items():
        found.setdefault(slot[:2], Counts()).add(counts)
    return found


def _row(place: Place, came: Counts, went: Counts) -> tuple[str, ...]:
    numbers = (came.records_in, came.passed, came.dead, _dropped(came), went.passed)
    return (visible(place[0]), str(place[1]), *(f"{number:,}" for number in numbers))


def _dropped(counts: Counts) -> int:
    return sum(counts.dropped.values())


def findings_to_json(found: Findings) -> dict[str, object]:
    return {
        "holds": found.holds,
        "fault": None if found.fault is None else found.fault._asdict(),
        "batches": found.batches,
        "first_batch": found.first_batch,
        "last_batch": found.last_batch,
        **_counts_to_json(found.came_in.total()),
        "rows_out": found.rows_out,
        "filtered": found.filtered,
        "partitions": [
            {
                "topic": place[0],
                "partition": place[1],
                **_counts_to_json(came),
                "out": went.passed,
            }
            for place, (came, went) in _by_place(found).items()
        ],
        "minutes": [
            _minute_to_json(slot, counts, found.went_out.counts)
            for slot, counts in sorted(found.came_in.counts.items())
        ],
        "gaps": [
            {
                "topic": topic,
                "partition": partition,
                "offsets": gap.offsets,
                "unproven": gap.unproven,
            }
            for (topic, partition), gap in found.gaps.items()
        ],
        "losses": [loss.to_json() for loss in found.losses],
    }


def _minute_to_json(slot: Slot, came: Counts, out: Mapping[Slot, Counts]) -> dict[str, object]:
    return {
        "topic": slot.topic,
        "partition": slot.partition,
        "at_ms": slot.minute * MINUTE_MS,
        **_counts_to_json(came),
        "key_sum": came.key_sum,
        "out": out.get(slot, Counts()).passed,
    }


def _counts_to_json(counts: Counts) -> dict[str, object]:
    return {
        "in": counts.records_in,
        "passed": counts.passed,
        "dead": counts.dead,
        "dropped": dict(sorted(counts.dropped.items())),
    }


def print_comparison(left: str, right: str, found: Comparison) -> None:
    differences = found.differences
    first, second = found.totals
    if not differences:
        typer.echo(
            visible(f"{left} and {right} are equal: {count(first.records, 'record')} in each.")
        )
        return
    print_table(_COMPARED, [_difference_row(each) for each in differences[:_MOST_DIFFERENCES]])
    if len(differences) > _MOST_DIFFERENCES:
        typer.echo(f"… and {len(differences) - _MOST_DIFFERENCES:,} more minutes; see --json.")
    whole = "in all they agree" if first == second else "in all they differ, too"
    typer.echo(
        visible(
            f"ottla: {left} ({count(first.records, 'record')}) and {right} "
            f"({count(second.records, 'record')}) differ in {count(len(differences), 'minute')}; "
            f"{whole}."
        ),
        err=True,
    )


def _difference_row(each: Difference) -> tuple[str, ...]:
    keys = "the same" if each.left.key_sum == each.right.key_sum else "others"
    difference = each.right.records - each.left.records
    return (
        _moment(each.minute),
        f"{each.left.records:,}",
        f"{each.right.records:,}",
        f"{difference:+,}",
        keys,
    )


def _moment(minute: int) -> str:
    if minute < 0:
        return "without a time"
    return f"{datetime.fromtimestamp(minute * 60, UTC):%Y-%m-%dT%H:%MZ}"


def comparison_to_json(left: str, right: str, found: Comparison) -> dict[str, object]:
    first, second = found.totals
    return {
        "left": {"topic": left, **first._asdict()},
        "right": {"topic": right, **second._asdict()},
        "equal": not found.differences,
        "differences": [_difference_to_json(each) for each in found.differences],
    }


def _difference_to_json(each: Difference) -> dict[str, object]:
    def told(summary: Summary) -> dict[str, object]:
        return dict(summary._asdict())

    at_ms = each.minute * MINUTE_MS if each.minute >= 0 else None
    return {"at_ms": at_ms, "left": told(each.left), "right": told(each.right)}
