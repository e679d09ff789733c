"""The guard on a made-up cluster: what it keeps, when it stops, and how a loss is accepted."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from ottla.pipelines.folder import Folder, LocalFolder
from ottla.pipelines.kafka import Cluster, KnownTopic, Place
from ottla.pipelines.reading.tally import Counts, Slot, Tally
from ottla.pipelines.repair.checkpoint import Checkpoint
from ottla.pipelines.repair.entry import Entry
from ottla.pipelines.repair.guard import CannotAccept, Guard
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.repair.losses import Cause, DataLoss, Loss
from tests.unit.pipelines.repair.mortal import Died, Life, MortalFolder
from tests.unit.pipelines.repair.test_checkpoint import write

A0, A1 = ("a", 0), ("a", 1)


class MadeUp(Cluster):
    """Logs without records: their starts are their ends, wherever a test puts them."""

    def __init__(self, **topics: KnownTopic) -> None:
        self.bootstrap = "nowhere:9092"
        self.known = topics
        self.at: dict[Place, int] = {}

    def topics(self, names: Iterable[str]) -> dict[str, KnownTopic]:
        return {name: self.known[name] for name in names if name in self.known}

    def starts(self, places: Iterable[Place]) -> dict[Place, int]:
        return {place: self.at.get(place, 0) for place in places}

    def ends(self, places: Iterable[Place]) -> dict[Place, int]:
        return self.starts(places)


@pytest.fixture
def cluster() -> MadeUp:
    cluster = MadeUp(a=KnownTopic("id-1", 2))
    cluster.at = {A0: 5, A1: 7}
    return cluster


@pytest.fixture
def folder(tmp_path: Path) -> LocalFolder:
    return LocalFolder(str(tmp_path / "guard"))


def guarding(folder: Folder, cluster: Cluster) -> Guard:
    return Guard(folder, cluster, Ledger(folder))


def stopped(guard: Guard, places: dict[Place, int]) -> tuple[Loss, ...]:
    with pytest.raises(DataLoss) as caught:
        guard.check(places)
    return caught.value.losses


def test_what_was_seen_is_known_to_the_next_run(cluster: MadeUp, folder: LocalFolder) -> None:
    guarding(folder, cluster).check({A0: 5, A1: 7})
    guarding(folder, cluster).check({A0: 5, A1: 7})
    cluster.known["a"] = KnownTopic("id-2", 2)
    assert stopped(guarding(folder, cluster), {A0: 5, A1: 6}) == (
        Loss("a", 0, 5, 5, Cause.RECREATED, 5),
        Loss("a", 1, 6, 7, Cause.RECREATED, 7),
    )


def test_it_stops_again_and_again_until_somebody_decides(
    cluster: MadeUp, folder: LocalFolder
) -> None:
    guard = guarding(folder, cluster)
    guard.check({A0: 5, A1: 7})
    cluster.at[A0] = 9
    for _ in range(2):
        assert stopped(guard, {A0: 5, A1: 7}) == (Loss("a", 0, 5, 9, Cause.DELETED, 9),)
    guard.check({A0: 9, A1: 7})


def test_the_ledger_knows_the_time_of_what_was_read_last(
    cluster: MadeUp, folder: LocalFolder
) -> None:
    for batch, minutes in enumerate([{A0: 3, A1: 3}, {A0: 5}]):
        slots = [Slot(*place, minute) for place, minute in minutes.items()]
        slots += [slot._replace(minute=1) for slot in slots]
        tally = Tally({slot: Counts(1, 1) for slot in slots})
        Ledger(folder).record(Entry(batch, batch, {}, {}, tally))
    cluster.at = {A0: 9, A1: 9}
    first, second = stopped(guarding(folder, cluster), {A0: 5, A1: 7})
    assert (first.after_ms, second.after_ms) == (300_000, 180_000)


def test_after_a_reset_the_topics_are_what_they_are(cluster: MadeUp, folder: LocalFolder) -> None:
    guard = guarding(folder, cluster)
    guard.check({A0: 5, A1: 7})
    cluster.known["a"] = KnownTopic("id-2", 1)
    guard.remember([A0])
    guard.check({A0: 5})


def test_a_topic_that_was_restored_is_trusted_as_far_as_it_reaches(
    cluster: MadeUp, folder: LocalFolder
) -> None:
    guard = guarding(folder, cluster)
    guard.check({A0: 5, A1: 7})
    cluster.known["a"] = KnownTopic("id-2", 2)
    assert len(stopped(guard, {A0: 5, A1: 7})) == 2
    with pytest.raises(DataLoss, match="a:1: the log ends before where the pipeline goes on"):
        guard.restored({A0: 5, A1: 8})
    guard.restored({A0: 5, A1: 7})
    guard.check({A0: 5, A1: 7})


def test_a_pipeline_without_topics_has_nothing_to_guard(
    cluster: MadeUp, folder: LocalFolder
) -> None:
    guarding(folder, cluster).check({})
    assert folder.names() == []


def planned(root: Path) -> Checkpoint:
    """Batch 3 was finished, 4 was planned."""
    write(root, 3, '{"a":{"0":5,"1":7}}', '{"logOffset":1}')
    write(root, 4, '{"a":{"0":20,"1":30}}', '{"logOffset":2}', is_committed=False)
    return Checkpoint(LocalFolder(str(root)))


def test_an_accepted_deletion_leaves_the_rest_of_the_planned_batch(
    cluster: MadeUp, folder: LocalFolder, tmp_path: Path
) -> None:
    guard, checkpoint, ledger = guarding(folder, cluster), planned(tmp_path), Ledger(folder)
    guard.check({A0: 5, A1: 7})
    cluster.at = {A0: 9, A1: 33}
    losses = guard.accept(checkpoint, Ledger(folder), now_ms=77)
    assert losses == (
        Loss("a", 0, 5, 9, Cause.DELETED, 9),
        Loss("a", 1, 7, 33, Cause.DELETED, 33),
    )
    assert checkpoint.offsets(3) == {A0: 9, A1: 33}
    assert checkpoint.offsets(4) == {A0: 20, A1: 33}
    assert [(each.batch, each.at_ms, each.losses) for each in ledger.accepted_losses()] == [
        (3, 77, losses)
    ]
    guard.check(checkpoint.offsets(3))
    assert guard.accept(checkpoint, Ledger(folder), now_ms=78) == ()
    assert len(ledger.accepted_losses()) == 1


def test_of_a_topic_made_anew_the_planned_batch_holds_nothing(
    cluster: MadeUp, folder: LocalFolder, tmp_path: Path
) -> None:
    guard, checkpoint = guarding(folder, cluster), planned(tmp_path)
    guard.check({A0: 5, A1: 7})
    cluster.known["a"] = KnownTopic("id-2", 1)
    cluster.at = {A0: 2}
    guard.accept(checkpoint, Ledger(folder), now_ms=77)
    assert checkpoint.offsets(3) == checkpoint.offsets(4) == {A0: 2}
    guard.check({A0: 2})


def test_whoever_dies_while_accepting_accepts_the_same_again(
    cluster: MadeUp, folder: LocalFolder, tmp_path: Path
) -> None:
    for steps in count():
        root = tmp_path / str(steps)
        root.mkdir()
        checkpoint, state = planned(root), LocalFolder(str(root / "state"))
        cluster.known["a"], cluster.at = KnownTopic("id-1", 2), {A0: 5, A1: 7}
        guarding(state, cluster).check({A0: 5, A1: 7})
        cluster.known["a"], cluster.at = KnownTopic("id-2", 2), {A0: 0, A1: 1}
        life = Life(steps)
        dying = guarding(MortalFolder(state, life), cluster)
        try:
            dying.accept(
                Checkpoint(MortalFolder(LocalFolder(str(root)), life)),
                Ledger(MortalFolder(state, life)),
                now_ms=77,
            )
        except Died:
            stopped(guarding(state, cluster), checkpoint.offsets(3))
            losses = guarding(state, cluster).accept(checkpoint, Ledger(state), now_ms=99)
            assert [(loss.start, loss.end) for loss in losses] == [(5, 5), (7, 7)]
        assert checkpoint.offsets(3) == checkpoint.offsets(4) == {A0: 0, A1: 1}
        assert len(Ledger(state).accepted_losses()) == 1
        guarding(state, cluster).check({A0: 0, A1: 1})
        if life.left:
            return


def test_some_losses_cannot_be_accepted(
    cluster: MadeUp, folder: LocalFolder, tmp_path: Path
) -> None:
    guard, empty = guarding(folder, cluster), Checkpoint(LocalFolder(str(tmp_path / "empty")))
    with pytest.raises(CannotAccept, match="No batch was finished"):
        guard.accept(empty, Ledger(folder), now_ms=1)
    cluster.known.clear()
    with pytest.raises(CannotAccept, match="Topic a is gone: create it again"):
        guard.accept(planned(tmp_path), Ledger(folder), now_ms=1)
