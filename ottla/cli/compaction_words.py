"""What `ottla log explain-compaction` says, in sentences."""

from __future__ import annotations

from datetime import UTC, datetime

from ottla.logtools.compaction_outlook import Reason
from ottla.logtools.compaction_report import CompactionReport
from ottla.storage.cleaning_plan import Bound
from ottla.storage.verdict import Verdict

_OVER = (Verdict.DROPPED_TOMBSTONE, Verdict.DROPPED_MARKER)
_THE_OFFSET, _THE_TIME = "the offset", "the time"


def time_text(time_ms: int) -> str:
    if time_ms < 0:
        return "no time"
    try:
        moment = datetime.fromtimestamp(time_ms // 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return "the end of time"  # beyond the year 9999
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def why(verdict: Verdict, detail: int | None) -> str:
    """The reason, with the offset or the time that it speaks of."""
    text = verdict.value
    if detail is None:
        return text
    if text.endswith(_THE_OFFSET):
        return f"{text.removesuffix(_THE_OFFSET)}offset {detail}"
    if text.endswith(_THE_TIME):
        return text.removesuffix(_THE_TIME) + time_text(detail)
    return f"{text} at {time_text(detail)}" if verdict in _OVER else text


def fate(verdict: Verdict, detail: int | None) -> str:
    return f"{'kept' if verdict.keeps else 'dropped'}: {why(verdict, detail)}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def stay_and_go(kept: int, dropped: int) -> str:
    stay = f"{kept:,} stay{'s' if kept == 1 else ''}"
    return f"{stay}, {dropped:,} go{'es' if dropped == 1 else ''}"


def overview(report: CompactionReport) -> list[str]:
    """A few sentences on the whole log, one a line."""
    log, totals = report.state.log, report.totals
    size = sum(segment.size_bytes for segment in log.segments)
    lines = [
        f"{report.state.name or report.state.folder}: offsets {log.log_start_offset} up to "
        f"{log.log_end_offset} in {count(len(log.segments), 'segment')}, {count(size, 'byte')}.",
        _clean(report),
        *_dirty(report),
        *_beyond(report),
        outlook(report),
    ]
    if totals.dropped or totals.bytes_after != totals.bytes_now:
        lines.append(
            f"Compacted now, {count(totals.bytes_now, 'byte')} would become "
            f"{totals.bytes_after:,} ({totals.ratio:.1%}); of "
            f"{count(totals.kept + totals.dropped, 'record')} "
            f"{stay_and_go(totals.kept, totals.dropped)}."
        )
    else:
        lines.append(f"Compacted now, all {count(totals.kept, 'record')} would stay.")
    return lines


def _clean(report: CompactionReport) -> str:
    log, start = report.state.log, report.cleanable.first_dirty_offset
    if log.checkpoint is None:
        doubt = " If its cleanup.policy does not hold compact, this is what compaction would do."
        is_internal = report.state.name is not None and report.state.name.topic.startswith("__")
        return f"Clean: nothing, no compaction is on record.{'' if is_internal else doubt}"
    if start != log.checkpoint:
        return (
            f"Clean: nothing, the last compaction ended at offset {log.checkpoint}, which is not "
            "in the log any more."
        )
    size = sum(s.size_bytes for s in log.segments if s.base_offset < start)
    return f"Clean: up to offset {start}, {count(size, 'byte')}; the last compaction ended there."


def _dirty(report: CompactionReport) -> list[str]:
    cleanable = report.cleanable
    if not cleanable.cleanable_bytes:
        return []
    return [
        f"Dirty: from offset {cleanable.first_dirty_offset} up to "
        f"{cleanable.first_uncleanable_offset}, {count(cleanable.cleanable_bytes, 'byte')}; "
        f"the dirty ratio is {cleanable.dirty_ratio:.2f}."
    ]


def _beyond(report: CompactionReport) -> list[str]:
    size = sum(segment.size_bytes for segment in report.beyond)
    if not size:
        return []
    verdict, detail = report.out_of_reach(report.beyond[0])
    return [
        f"Out of reach: from offset {report.beyond[0].base_offset} on, {count(size, 'byte')}; "
        f"{why(verdict, detail)}."
    ]


def outlook(report: CompactionReport) -> str:
    """Whether a broker would compact the log now."""
    would, reason = report.outlook()
    config, cleanable = report.state.log.config, report.cleanable
    text = reason.value
    if reason in (Reason.DIRTY, Reason.NOT_DIRTY_ENOUGH):
        text = (
            f"its dirty ratio, {cleanable.dirty_ratio:.2f}, is"
            f"{'' if would else ' not'} above min.cleanable.dirty.ratio, "
            f"{config.min_cleanable_dirty_ratio:.2f}"
        )
    elif reason is Reason.OUT_OF_REACH and cleanable.bound is not Bound.ACTIVE_SEGMENT:
        text = f"{text}; {why(*report.out_of_reach(report.beyond[0]))}"
    elif reason is Reason.NOTHING_CLOSED:
        text = f"{text}, which closes by segment.bytes and segment.ms"
    return f"A broker would {'' if would else 'not '}compact it now: {text}."
