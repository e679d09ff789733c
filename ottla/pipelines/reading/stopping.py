"""What a task says that stops the pipeline.

Spark wraps it into pages of its own. So it goes on one line behind a word that nobody else writes,
by which the runner finds it again.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_STOP, _WIDER = "OTTLA-STOP", "OTTLA-WIDER"
_FOUND = re.compile(rf"({_STOP}|{_WIDER}) ([^\n]*)")
_NEW_LINE = "\u2028"  # of a sentence that has several, on its way


class StopsPipeline(Exception):
    def __init__(self, sentence: str, *, word: str = _STOP) -> None:
        super().__init__(f"{word} {sentence}".replace("\n", _NEW_LINE))


class RuleStopsPipeline(StopsPipeline):
    def __init__(self, rule: str, error: str) -> None:
        super().__init__(f"{rule}: {error}")


class SchemaIsWider(StopsPipeline):
    """A query cannot widen its columns while it runs; one that begins with the new schema can."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, word=_WIDER)


class Stopped(NamedTuple):
    sentence: str
    is_wider: bool


def stopped_by(text: str) -> Stopped | None:
    """What a task said, out of what Spark says; None if it ended for another reason."""
    if (found := _FOUND.search(text)) is None:
        return None
    return Stopped(found[2].replace(_NEW_LINE, "\n"), found[1] == _WIDER)
