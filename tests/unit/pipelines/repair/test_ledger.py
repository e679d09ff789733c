"""The ledger: what was recorded is found, once, however often the pipeline died."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ottla.pipelines.folder import LocalFolder
from ottla.pipelines.reading.tally import Counts, Slot, Tally
from ottla.pipelines.repair.entry import AcceptedLoss, Entry
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.repair.losses import Cause, Loss
from tests.unit.pipelines.repair.mortal import Died, Life, MortalFolder


def entry(batch: int, *, rows_out: int = 1) -> Entry:
    counts = Counts(2, 1, 0, {"not_null(id)": 1}, {}, 7, 3)
    return Entry(
        batch=batch,
        began_ms=1_000 * batch,
        starts={("views", 0): 2 * batch, ("views", 10): 0},
        ends={("views", 0): 2 * batch + 2, ("views", 10): 0},
        tally_in=Tally({Slot("views", 0, batch): counts}),
        tally_out=None if batch % 2 else Tally({Slot("views", 0, batch): Counts(1, 1)}),
        rows_out=rows_out,
        is_row_wise=True,
    )


@pytest.fixture
def folder(tmp_path: Path) -> LocalFolder:
    return LocalFolder(str(tmp_path))


def batches(entries: Sequence[Entry]) -> list[int]:
    return [each.batch for each in entries]


def test_entries_come_back_as_they_were_recorded(folder: LocalFolder) -> None:
    wanted = [entry(batch) for batch in range(12)]
    for each in reversed(wanted):
        Ledger(folder).record(each)
    assert list(Ledger(folder).entries()) == wanted


def test_a_batch_that_is_repeated_replaces_itself(folder: LocalFolder) -> None:
    ledger = Ledger(folder)
    for rows in (1, 2):
        ledger.record(entry(3, rows_out=rows))
    assert [each.rows_out for each in ledger.entries()] == [2]


def test_what_is_older_than_the_last_hundred_batches_is_in_one_file_for_each(
    folder: LocalFolder,
) -> None:
    ledger = Ledger(folder)
    wanted = [entry(batch) for batch in (0, 50, 99, 100, 101, 199, 200, 203)]
    for each in wanted:
        ledger.record(each)
    assert folder.names("hundreds") == ["0.jsonl", "1.jsonl"]
    assert folder.names("batches") == ["200.json", "203.json"]
    assert list(ledger.entries()) == wanted
    assert list(ledger.newest_first()) == wanted[::-1]


def test_a_time_range_begins_with_its_first_and_ends_before_its_last(folder: LocalFolder) -> None:
    ledger = Ledger(folder)
    for batch in (0, 99, 100, 101, 150, 200, 201):
        ledger.record(entry(batch))
    assert batches(list(ledger.entries(101_000, 201_000))) == [101, 150, 200]
    assert batches(list(ledger.entries(99_001, 100_001))) == [100]
    assert batches(list(ledger.entries(0, 1))) == [0]
    assert batches(list(ledger.entries(201_001))) == []


# Written: batch 100, then the hundred of the three before it, which are then deleted.
@pytest.mark.parametrize("steps", range(6))
def test_whoever_dies_while_rolling_loses_and_doubles_nothing(
    folder: LocalFolder, steps: int
) -> None:
    before = [entry(batch) for batch in (97, 98, 99)]
    for each in before:
        Ledger(folder).record(each)
    dying = Ledger(MortalFolder(folder, Life(steps)))
    try:
        dying.record(entry(100))
        assert steps == 5
    except Died:
        assert steps < 5
    assert list(Ledger(folder).entries()) == [*before, *([entry(100)] if steps else [])]
    Ledger(folder).record(entry(101))
    if steps == 0:
        Ledger(folder).record(entry(100))
    assert folder.names("batches") == ["100.json", "101.json"]
    assert list(Ledger(folder).entries()) == [*before, entry(100), entry(101)]


def test_a_batch_repeated_after_it_was_rolled_counts_once(folder: LocalFolder) -> None:
    for batch in (99, 100):
        Ledger(folder).record(entry(batch))
    Ledger(folder).record(entry(99, rows_out=5))
    assert [each.rows_out for each in Ledger(folder).entries()] == [5, 1]
    Ledger(folder).record(entry(101))
    assert folder.names("batches") == ["100.json", "101.json"]
    assert [each.rows_out for each in Ledger(folder).entries()] == [5, 1, 1]


def test_batches_rolled_while_they_are_read_are_found(folder: LocalFolder) -> None:
    for batch in range(98, 100):
        Ledger(folder).record(entry(batch))

    class Rolling(MortalFolder):
        """Somebody rolls between the list of names and the reading of the first."""

        def read(self, name: str) -> bytes | None:
            if name.startswith("batches"):
                Ledger(folder).record(entry(100))
            return super().read(name)

    found = list(Ledger(Rolling(folder, Life(0))).entries(to_ms=100_000))
    assert found == [entry(98), entry(99)]


def test_accepted_losses_are_kept_in_the_order_of_their_times(folder: LocalFolder) -> None:
    loss = Loss("views", 0, 5, 9, Cause.DELETED, 9, after_ms=1, before_ms=None)
    later, first = AcceptedLoss(7, 20, (loss,)), AcceptedLoss(7, 3, ())
    for each in (later, first, later):
        Ledger(folder).record_loss(each)
    assert Ledger(folder).accepted_losses() == [first, later]
