"""Prints what compaction would do: a table of keys, the history of some, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import typer

from ottla.cli.compaction_words import count, fate, outlook, overview, stay_and_go, time_text, why
from ottla.cli.log_verify import Bar
from ottla.cli.output import print_json_lines, print_table, visible
from ottla.logtools.compaction_report import CompactionReport
from ottla.logtools.explained_record import ExplainedRecord
from ottla.logtools.key_choice import KeyChoice
from ottla.logtools.key_summaries import KeySummaries, KeySummary
from ottla.logtools.key_text import KeyText

_LINES_AT_ONCE = 200
_WIDEST_KEY = 48
_TIME_WIDTH = len("2026-11-16 10:00:00 UTC")
_VALUE_WIDTH = len("999,999,999 bytes")


def text_of_keys(report: CompactionReport) -> KeyText:
    name = report.state.name
    return KeyText(None if name is None else name.topic)


def print_summary(report: CompactionReport, *, top: int, as_json: bool, bar: Bar) -> None:
    summaries = KeySummaries()
    for record in report.records():
        summaries.add(record)
    bar.stop()
    if as_json:
        print_json_lines([_log_json(report, summaries, top)])
        return
    for line in overview(report):
        typer.echo(line)
    text = text_of_keys(report)
    if len(summaries):
        typer.echo()
        columns = ("key", "records", "bytes", "stay", "go", "the oldest that stays")
        print_table(columns, [_row(summary, text) for summary in summaries.top(top)])
    if summaries.markers.records:
        markers = summaries.markers
        typer.echo(
            f"Besides, {count(markers.records, 'transaction marker')}: "
            f"{stay_and_go(markers.kept, markers.dropped)}."
        )
    if summaries.is_cut:
        typer.echo(
            "There are too many keys to count each: a key may have up to "
            f"{count(summaries.missing_bytes, 'byte')} more than shown. --key tells all of one."
        )
    elif len(summaries) > top:
        typer.echo(f"These are {top:,} of {len(summaries):,} keys, those with most bytes.")


def _row(summary: KeySummary, text: KeyText) -> tuple[str, ...]:
    oldest = summary.oldest_kept
    words = "nothing stays"
    if oldest is not None:
        words = f"offset {oldest.offset}: {why(oldest.verdict, oldest.detail)}"
    return (
        _short(text.text(summary.key)),
        f"{summary.records:,}",
        f"{summary.size_bytes:,}",
        f"{summary.kept:,}",
        f"{summary.dropped:,}",
        words,
    )


def _short(key: str) -> str:
    key = visible(key)
    return key if len(key) <= _WIDEST_KEY else key[: _WIDEST_KEY - 1] + "…"


def print_history(report: CompactionReport, choice: KeyChoice, *, as_json: bool, bar: Bar) -> None:
    """Record by record, printed in pieces: the first stops the bar."""
    text = text_of_keys(report)
    shows = _json_line(text) if as_json else _history_line(report, text, choice)
    pending: list[str] = []
    kept = told = 0
    for record in report.records():
        if not choice.takes(record, text):
            continue
        told += 1
        kept += record.verdict.keeps
        pending.append(shows(record))
        if len(pending) == _LINES_AT_ONCE:
            bar.stop()
            typer.echo("\n".join(pending))
            pending.clear()
    bar.stop()
    if pending:
        typer.echo("\n".join(pending))
    if told and not as_json:
        sums = f"Of {count(told, 'record')} {stay_and_go(kept, told - kept)}."
        typer.echo(f"{sums} {outlook(report)}")


def _history_line(
    report: CompactionReport, text: KeyText, choice: KeyChoice
) -> Callable[[ExplainedRecord], str]:
    width = len(str(report.state.log.log_end_offset))

    def line(record: ExplainedRecord) -> str:
        if record.is_marker:
            value = "marker"
        elif record.value_bytes is None:
            value = "tombstone"
        else:
            value = count(record.value_bytes, "byte")
        words = fate(record.verdict, record.detail)
        if record.verdict.keeps:
            words = typer.style(words, fg=typer.colors.GREEN)
        cells = [f"{record.offset:{width}}", time_text(record.timestamp).ljust(_TIME_WIDTH)]
        if not choice.is_single:
            cells.append(_short(text.text(record.key)).ljust(12))
        return "  ".join([*cells, value.rjust(_VALUE_WIDTH), words])

    return line


def _json_line(text: KeyText) -> Callable[[ExplainedRecord], str]:
    return lambda record: json.dumps(_record_json(record, text), separators=(",", ":"))


def _record_json(record: ExplainedRecord, text: KeyText) -> dict[str, object]:
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": text.json(record.key),
        "key_hex": None if record.key is None else record.key.hex(),
        "value_bytes": record.value_bytes,
        "size_bytes": record.size_bytes,
        "marker": record.is_marker,
        "kept": record.verdict.keeps,
        "verdict": record.verdict.name.lower(),
        "detail": record.detail,
        "why": why(record.verdict, record.detail),
    }


def _key_json(summary: KeySummary, text: KeyText) -> dict[str, object]:
    oldest = summary.oldest_kept
    return {
        "key": text.json(summary.key),
        "key_hex": None if summary.key is None else summary.key.hex(),
        "records": summary.records,
        "size_bytes": summary.size_bytes,
        "kept": summary.kept,
        "dropped": summary.dropped,
        "kept_bytes": summary.kept_bytes,
        "oldest_kept": None if oldest is None else _record_json(oldest, text),
    }


def _log_json(report: CompactionReport, summaries: KeySummaries, top: int) -> dict[str, object]:
    log, cleanable, totals = report.state.log, report.cleanable, report.totals
    would_compact, reason = report.outlook()
    text = text_of_keys(report)
    return {
        "partition": str(report.state.name or report.state.folder),
        "now": report.now_ms,
        "log_start_offset": log.log_start_offset,
        "first_dirty_offset": cleanable.first_dirty_offset,
        "first_uncleanable_offset": cleanable.first_uncleanable_offset,
        "last_stable_offset": log.last_stable_offset,
        "high_watermark": report.state.high_watermark,
        "log_end_offset": log.log_end_offset,
        "bound": cleanable.bound.name.lower(),
        "clean_bytes": cleanable.clean_bytes,
        "cleanable_bytes": cleanable.cleanable_bytes,
        "dirty_ratio": round(cleanable.dirty_ratio, 6),
        "would_compact": would_compact,
        "reason": reason.name.lower(),
        "bytes_now": totals.bytes_now,
        "bytes_after": totals.bytes_after,
        "segments_now": totals.segments_now,
        "segments_after": totals.segments_after,
        "records_kept": totals.kept,
        "records_dropped": totals.dropped,
        "verdicts": {
            verdict.name.lower(): n
            for verdict, n in sorted(totals.verdicts.items(), key=lambda item: item[0].name)
        },
        "key_count": None if summaries.is_cut else len(summaries),
        "keys_cut": summaries.is_cut,
        "keys": [_key_json(summary, text) for summary in summaries.top(top)],
        "findings": [finding.to_json() for finding in report.findings],
    }
