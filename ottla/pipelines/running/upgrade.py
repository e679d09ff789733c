"""What of a changed pipeline fits what its folder remembers of the last run. Rules only."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql.types import StructType

from ottla.pipelines.reading.evolution import changes
from ottla.pipelines.running.state import Remembered


class Difference(NamedTuple):
    is_breaking: bool
    sentence: str


def differences(before: Remembered, now: Remembered) -> list[Difference]:
    """Both as they are at the start of a run; empty if nothing that matters has changed."""
    if not before.sink:  # it was reset: there is nothing to go on with
        return []
    return [
        *_topics(before, now),
        *_sink(before, now),
        *_schemas(before, now),
        *_state(before, now),
    ]


def refusal(before: Remembered, now: Remembered) -> str | None:
    """Why it cannot go on from its checkpoint, and what to do; None if it can."""
    breaking = [found.sentence for found in differences(before, now) if found.is_breaking]
    if not breaking:
        return None
    listed = "".join(f"\n  - {sentence}" for sentence in breaking)
    return (
        f"does not fit its checkpoint any more:{listed}\n"
        "Take the change back, begin anew with `ottla pipeline reset`, or go on as it is with"
        " --accept-upgrade"
    )


def _topics(before: Remembered, now: Remembered) -> list[Difference]:
    added = [name for name in now.topics if name not in before.topics]
    gone = [name for name in before.topics if name not in now.topics]
    return [
        *(Difference(False, f"{name} is read from its start on: it is new") for name in added),
        *(
            Difference(True, f"{name} is no longer read, but the checkpoint holds its offsets")
            for name in gone
        ),
    ]


def _sink(before: Remembered, now: Remembered) -> list[Difference]:
    if before.sink == now.sink:
        return []
    return [
        Difference(
            True, f"rows went to {before.sink}, and now go to {now.sink}, which lacks all before"
        )
    ]


def _schemas(before: Remembered, now: Remembered) -> list[Difference]:
    found = []
    for source, schema in now.schemas.items():
        if (old := before.schemas.get(source)) is None:
            continue
        for change in changes(StructType.fromJson(old), StructType.fromJson(schema)):
            found.append(Difference(change.is_breaking, f"{source}: {change.path} {change.what}"))
    return found


def _state(before: Remembered, now: Remembered) -> list[Difference]:
    if before.stateful == now.stateful:
        return []
    words = [", ".join(kept) or "nothing" for kept in (before.stateful, now.stateful)]
    return [
        Difference(True, f"the function kept state in {words[0]}, and now keeps it in {words[1]}")
    ]
