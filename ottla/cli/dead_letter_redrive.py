"""`ottla pipeline dead-letters redrive` and `discard`: what is to become of dead letters."""

from __future__ import annotations

import json
import sys
from collections import Counter as Counts
from collections.abc import Iterator, Sequence
from types import TracebackType

import typer

from ottla.admin.pace import Pace
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, Yes, confirm
from ottla.cli.dead_letter_options import (
    Again,
    DryRun,
    LettersTopic,
    Limit,
    Origin,
    Rate,
    Rule,
    Since,
    Some,
    To,
    Until,
    open_letters,
    parse_wanted,
)
from ottla.cli.dead_letter_output import letter_to_json, print_letters
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.cli.outcomes import count
from ottla.cli.output import visible
from ottla.cli.pipeline_clusters import in_sentences
from ottla.pipelines.repair.dead_letters import AT_ONCE, FoundLetter, Wanted
from ottla.timing.clock import Stopwatch


@in_sentences
def redrive(
    topic: LettersTopic,
    letters: Some = None,
    *,
    rule: Rule = None,
    origin: Origin = None,
    since: Since = "",
    until: Until = "",
    limit: Limit = None,
    to: To = None,
    again: Again = False,
    dry_run: DryRun = False,
    rate: Rate = None,
    yes: Yes = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Send dead letters back to the topics they came from. On a terminal you are asked first.

    A letter goes as it came, in one transaction with a note in TOPIC.redriven, so that it is not
    sent twice, even if this is killed; `--again` sends it all the same. Its header
    `ottla.attempts` says how often it has failed. Of two who redrive from one topic at once, the
    first is stopped. The objects of `--json` are those of `list`, as they were before.

    Exit code: 0 sent, or there were none; 1 failed or interrupted; 2 wrong call.

    Examples:

    - `ottla pipeline dead-letters redrive page-views.dlq --rule 'not_null(user_id)' --dry-run`
    - `ottla pipeline dead-letters redrive page-views.dlq 0:17 0:18`
    - `ottla pipeline dead-letters redrive page-views.dlq --to page-views.fixed --rate 100`
    """
    wanted = parse_wanted(
        letters or (), rule=rule, origin=origin, since=since, until=until, limit=limit
    )
    wanted = wanted if again else wanted.waiting()
    found = _look(bootstrap, topic, wanted) if dry_run or _asks(yes) else []
    if dry_run:
        where = _targets(found, to)
        _tell("Would redrive", topic, found, where=where, is_dry=True, as_json=as_json)
        return
    _confirm("Redrive", topic, found, yes=yes)
    pace = Pace(rate)
    at_once = pace.at_once(AT_ONCE)
    with _Work(pace) as work:
        with open_letters(bootstrap, topic) as box:
            sent = work.done_of(box.redrive(wanted, to=to, again=again, at_once=at_once))
        _tell("Redrove", topic, sent, where=_targets(sent, to), as_json=as_json)


@in_sentences
def discard(
    topic: LettersTopic,
    letters: Some = None,
    *,
    rule: Rule = None,
    origin: Origin = None,
    since: Since = "",
    until: Until = "",
    limit: Limit = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Give dead letters up: they stay where they are, and are no longer redriven.

    That is only noted, in TOPIC.redriven; `redrive --again` sends them all the same. On a terminal
    you are asked first. The objects of `--json` are those of `list`, as they were before.

    Exit code: 0 discarded, or there were none; 1 failed or interrupted; 2 wrong call.

    Examples:

    - `ottla pipeline dead-letters discard page-views.dlq 0:17`
    - `ottla pipeline dead-letters discard page-views.dlq --until 2026-01-01 --dry-run`
    """
    wanted = parse_wanted(
        letters or (), rule=rule, origin=origin, since=since, until=until, limit=limit
    ).waiting()
    found = _look(bootstrap, topic, wanted) if dry_run or _asks(yes) else []
    if dry_run:
        _tell("Would discard", topic, found, is_dry=True, as_json=as_json)
        return
    _confirm("Discard", topic, found, yes=yes)
    with _Work(Pace(None)) as work:
        with open_letters(bootstrap, topic) as box:
            done = work.done_of(box.discard(wanted))
        _tell("Discarded", topic, done, as_json=as_json)


def _look(bootstrap: str, topic: str, wanted: Wanted) -> list[FoundLetter]:
    with open_letters(bootstrap, topic) as box:
        return list(box.find(wanted))


def _asks(yes: bool) -> bool:
    return not yes and sys.stdin.isatty()


def _confirm(verb: str, topic: str, found: Sequence[FoundLetter], *, yes: bool) -> None:
    if found:
        confirm(f"{verb} {count(len(found), 'dead letter')} of {visible(topic)}?", yes=yes)


class _Work:
    """At a pace, until Ctrl-C; which is heard between two transactions."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._interruption = Interruption()
        self._watch = Stopwatch()

    def __enter__(self) -> _Work:
        self._interruption.__enter__()
        return self

    def done_of(self, chunks: Iterator[list[FoundLetter]]) -> list[FoundLetter]:
        done: list[FoundLetter] = []
        for chunk in chunks:
            done += chunk
            elapsed_s = self._watch.elapsed_s()
            self._interruption.wait(self._pace.wait_s(done=len(done), elapsed_s=elapsed_s))
            if self._interruption.requested:
                break
        return done

    def __exit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._interruption.__exit__(kind, error, traceback)
        if self._interruption.requested and error is None:
            fail("interrupted; what is left was not touched.")


def _tell(
    verb: str,
    topic: str,
    letters: Sequence[FoundLetter],
    *,
    where: str = "",
    is_dry: bool = False,
    as_json: bool,
) -> None:
    if as_json:
        typer.echo(json.dumps([letter_to_json(each) for each in letters], indent=2))
        return
    if not letters:
        typer.echo(f"There are no such dead letters in {visible(topic)}.")
        return
    if is_dry:
        print_letters(letters)
    typer.echo(visible(f"{verb} {count(len(letters), 'dead letter')} of {topic}{where}."))


def _targets(letters: Sequence[FoundLetter], to: str | None) -> str:
    targets = Counts(to or each.stored.letter.topic for each in letters)
    return ": " + ", ".join(f"{number:,} to {name}" for name, number in targets.items())
