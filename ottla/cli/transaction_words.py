"""Why a last stable offset stands still, in sentences; and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from ottla.admin.cluster import TopicPartition
from ottla.admin.stability import Stability
from ottla.admin.transaction_verdicts import Judged, KnownTransaction, Verdict
from ottla.cli.durations import show_duration
from ottla.cli.outcomes import count

_MOST_NAMED = 8
Entry = Mapping[str, Any]  # what an Ottla broker's HTTP port tells of one partition


def story(stability: Stability, told: Entry | None, *, now_ms: int) -> list[str]:
    """The partition in a line, and below it what is open there, who wrote it and who waits."""
    lines = [f"{stability.partition}: {extent(stability)}"]
    for each in stability.open:
        lines.append(f"    {why(each, now_ms=now_ms)}")
        if (written := written_by(each, told)) is not None:
            lines.append(f"        {written}")
    if not stability.open:
        lines.append(f"    {_why_nothing_is_open(stability)}")
    if told is not None and stability.stands_still:
        lines.append(f"    {_waiting(told['waiting'])}")
    return lines


def extent(stability: Stability) -> str:
    """How far readers see."""
    ends = f"{stability.last_stable_offset} of {stability.high_watermark}"
    if not stability.held_back:
        return f"last stable offset {ends}"
    unseen = count(stability.held_back, "record")
    return f"last stable offset {ends}: read_committed consumers do not see {unseen}"


def why(judged: Judged, *, now_ms: int) -> str:
    return f"{_who(judged, now_ms)}; {verdict_in_words(judged, now_ms=now_ms)}"


def verdict_in_words(judged: Judged, *, now_ms: int) -> str:
    known = judged.known
    match judged.verdict:
        case Verdict.HANGING:
            return f"{_unknown(known)}: hanging; abort it with `{abort_command(judged)}`"
        case Verdict.ENDING:
            assert known is not None
            return f"{_knows(known)}: decided, but its marker is not here yet"
        case Verdict.ONGOING:
            assert known is not None
            left_ms = known.left_ms(now_ms)
            assert left_ms is not None
            return f"{_knows(known)}, times out in {show_duration(left_ms)}"
        case Verdict.OVERDUE:
            assert known is not None
            left_ms = known.left_ms(now_ms)
            assert left_ms is not None
            over = f"its time was over {show_duration(-left_ms)} ago"
            return f"{_knows(known)}; {over}, and the coordinator is to abort it any moment"
        case _:
            assert_never(judged.verdict)


def abort_command(judged: Judged) -> str:
    topic, index = judged.open.partition
    return f"ottla transactions abort {topic}:{index} --start-offset {judged.open.start_offset}"


def age_in_words(since_ms: int | None, now_ms: int) -> str:
    return "-" if since_ms is None else show_duration(max(0, now_ms - since_ms))


def _who(judged: Judged, now_ms: int) -> str:
    opened = judged.open
    ago = f" {age_in_words(judged.began_ms, now_ms)} ago" if judged.began_ms is not None else ""
    producer = f"producer {opened.producer_id} (epoch {opened.producer_epoch})"
    place = f"offset {opened.start_offset} in {TopicPartition(*opened.partition)}"
    return f"{producer} began at {place}{ago}"


def _knows(known: KnownTransaction) -> str:
    name, state = known.transactional_id, known.state
    return f"its coordinator, broker {known.coordinator}, knows transaction {name!r} as {state}"


def _unknown(known: KnownTransaction | None) -> str:
    if known is None:
        return "no coordinator knows it"
    return f"{_knows(known)}, without this partition"


def _why_nothing_is_open(stability: Stability) -> str:
    if stability.held_back:
        return "a transaction has ended, but its marker is not on all in-sync replicas yet"
    return "no transaction is open"


def written_by(judged: Judged, told: Entry | None) -> str | None:
    """None where no broker of Ottla's told it."""
    for each in told["transactions"] if told is not None else ():
        if each["producer_id"] == judged.open.producer_id and each["client_address"]:
            client = f"client {each['client_id'] or '(without a name)'}"
            state = "" if each["client_is_connected"] else ", which has gone"
            return f"written by {client} at {each['client_address']}{state}"
    return None


def _waiting(waiting: Sequence[Entry]) -> str:
    if not waiting:
        return "nobody waits for it in a fetch just now"
    named = [
        f"{each['client_id'] or '(without a name)'} at {each['client_address']} "
        f"(offset {each['fetch_offset']})"
        for each in waiting[:_MOST_NAMED]
    ]
    more = [f"{len(waiting) - _MOST_NAMED:,} more"] if len(waiting) > _MOST_NAMED else []
    number = len(waiting)
    verb = "waits" if number == 1 else "wait"
    return f"{count(number, 'consumer')} {verb} for it: {', '.join(named + more)}"
