"""The audit: an honest ledger holds, and every number that is wrong is found where it stands."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipelines.kafka import Place
from ottla.pipelines.reading.tally import Counts, Slot, Tally
from ottla.pipelines.repair.audit import Gap, audit
from ottla.pipelines.repair.entry import AcceptedLoss, Entry
from ottla.pipelines.repair.losses import Cause, Loss

V0, V1 = ("views", 0), ("views", 1)
MINUTE = Slot("views", 0, 7)


def entry(
    batch: int, counts: Counts, *, out: Counts | None = None, start: int | None = None
) -> Entry:
    """One partition and one minute, as many offsets as records."""
    start = 10 * batch if start is None else start
    return Entry(
        batch=batch,
        began_ms=batch,
        starts={V0: start},
        ends={V0: start + counts.records_in},
        tally_in=Tally({MINUTE: counts}),
        tally_out=None if out is None else Tally({MINUTE: out}),
        rows_out=None if out is None else out.passed,
        is_row_wise=out is not None,
    )


WHOLE = Counts(10, 10, key_sum=55, passed_sum=55)


def fault(*entries: Entry, accepted: tuple[Loss, ...] = ()) -> tuple[int, str]:
    found = audit(entries, [AcceptedLoss(entries[0].batch, 0, accepted)]).fault
    assert found is not None
    return found


def test_an_honest_ledger_holds_and_is_summed_up() -> None:
    mixed = Counts(10, 6, 3, {"old": 1}, {"late": 2}, 99, 50)
    found = audit([entry(4, WHOLE, out=Counts(passed=10)), entry(5, mixed, out=Counts(passed=4))])
    assert found.holds
    assert (found.first_batch, found.last_batch, found.batches) == (4, 5, 2)
    assert found.came_in.total() == Counts(20, 16, 3, {"old": 1}, {"late": 2}, 154, 105)
    assert (found.rows_out, found.filtered, found.gaps) == (14, 2, {})


def test_an_empty_ledger_holds() -> None:
    assert audit([]).holds
    assert audit([]).first_batch is None


def test_a_minute_that_does_not_add_up_is_named_with_its_numbers() -> None:
    wrong = Counts(10, 6, 3, {"old": 2})
    assert fault(entry(3, WHOLE), entry(4, wrong, start=40)) == (
        4,
        "views:0 at 1970-01-01T00:07Z: 10 in, but 6 passed + 3 dead + 2 dropped = 11",
    )


def test_a_gap_and_an_overlap_between_batches_are_faults() -> None:
    assert fault(entry(3, WHOLE), entry(4, WHOLE, start=45)) == (
        4,
        "views:0: 5 offsets from 40 to 44 lie between batch 3 and it: not read",
    )
    assert fault(entry(3, WHOLE), entry(4, WHOLE, start=39)) == (
        4,
        "views:0: it begins at 39, though batch 3 ended at 40: read twice",
    )


def test_a_batch_that_was_not_recorded_is_missed() -> None:
    found = fault(entry(3, WHOLE), entry(5, WHOLE))
    assert found == (5, "it follows batch 3: what is between them was not recorded")


def test_a_partition_may_be_added_at_its_start_and_may_not_vanish() -> None:
    one, two = entry(3, WHOLE), entry(4, WHOLE)
    grown = replace(two, starts={**two.starts, V1: 0}, ends={**two.ends, V1: 0})
    assert audit([one, grown]).holds
    late = replace(two, starts={**two.starts, V1: 2}, ends={**two.ends, V1: 2})
    assert "views:1: 2 offsets from 0 to 1 lie between" in fault(one, late)[1]
    assert "views:1: it does not read on at 0" in fault(grown, entry(5, WHOLE))[1]


def test_an_accepted_loss_explains_what_was_not_read() -> None:
    loss = Loss("views", 0, 40, 45, Cause.DELETED, 45)
    found = audit([entry(3, WHOLE), entry(4, WHOLE, start=45)], [AcceptedLoss(3, 0, (loss,))])
    assert found.holds
    assert found.losses == [loss]
    gone = Loss("views", 0, 40, 45, Cause.NO_PARTITION, None)
    rest = replace(entry(4, Counts()), starts={}, ends={}, tally_in=Tally())
    assert audit([entry(3, WHOLE), rest], [AcceptedLoss(3, 0, (gone,))]).holds
    assert "given up" in fault(entry(3, WHOLE), entry(4, WHOLE), accepted=(gone,))[1]


def test_more_records_than_offsets_are_a_fault() -> None:
    wrong = replace(entry(3, WHOLE), ends={V0: 39})
    assert fault(wrong) == (3, "views:0: 10 records in from offset 30 up to 39")


def test_offsets_without_records_are_said_and_can_be_counted_again() -> None:
    sparse = replace(entry(3, WHOLE), ends={V0: 42})
    assert audit([sparse]).gaps == {V0: Gap(2, 2)}
    asked: list[tuple[Place, int, int]] = []

    def recount(place: Place, start: int, end: int) -> int:
        asked.append((place, start, end))
        return 10

    assert audit([sparse], recount=recount).gaps == {V0: Gap(2, 0)}
    assert asked == [(V0, 30, 42)]
    lost = audit([sparse], recount=lambda *_: 11).fault
    assert lost == (3, "views:0: 10 records in from offset 30 up to 42, where there are 11")


def test_records_of_files_have_no_offsets_to_be_compared() -> None:
    files = replace(entry(3, WHOLE), starts={}, ends={})
    assert audit([files]).holds
    other = replace(entry(3, WHOLE), starts={V1: 0}, ends={V1: 0})
    assert "records of a partition that it did not read" in fault(other)[1]


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        (Counts(passed=11), "10 passed, and 11 rows came of them"),
        (Counts(passed=9, passed_sum=55), "10 passed, and only 9 rows came out"),
        (Counts(passed=10, passed_sum=54), "sum up to 55, those of the rows out to 54"),
    ],
)
def test_what_comes_out_must_be_what_passed(out: Counts, sentence: str) -> None:
    preserving = replace(entry(3, WHOLE, out=out), is_row_preserving=True)
    assert sentence in fault(preserving)[1]


def test_a_function_that_sums_up_may_write_any_number_of_rows() -> None:
    grouped = replace(entry(3, WHOLE, out=Counts(passed=12)), is_row_wise=False, rows_out=3)
    assert audit([grouped]).holds


def test_the_sink_must_have_written_what_the_function_made() -> None:
    wrong = replace(entry(3, WHOLE, out=Counts(passed=9)), rows_out=8)
    assert fault(wrong) == (3, "8 rows were written, and the function made 9")


slots = st.builds(Slot, st.just("views"), st.integers(0, 1), st.integers(0, 3))
removed = st.dictionaries(st.sampled_from(["a", "b"]), st.integers(1, 9), max_size=2)


@st.composite
def ledgers(draw: st.DrawFn) -> list[Entry]:
    """Honest, of a function that keeps every row, over a topic without gaps."""
    ends: dict[Place, int] = {V0: draw(st.integers(0, 99)), V1: 5}
    entries = []
    for batch in range(draw(st.integers(2, 4))):
        tally, out, starts = Tally(), Tally(), dict(ends)
        for slot in draw(st.lists(slots, unique=True, max_size=4)):
            passed, dead, dropped = draw(st.integers(0, 9)), draw(st.integers(0, 9)), draw(removed)
            count = passed + dead + sum(dropped.values())
            passed_sum = draw(st.integers(0, passed * 2**32))
            key_sum = passed_sum + (count - passed) * 17
            tally.add(slot, Counts(count, passed, dead, dropped, {}, key_sum, passed_sum))
            out.add(slot, Counts(passed=passed, passed_sum=passed_sum))
            ends[slot[:2]] += count
        rows = out.total().passed
        made = Entry(batch, batch, starts, dict(ends), tally, out, rows, True, True)
        entries.append(made)
    return entries


@given(ledgers())
def test_every_honest_ledger_holds(entries: list[Entry]) -> None:
    assert audit(entries, recount=lambda place, start, end: end - start).holds


Corruption = Callable[[Entry, int], Entry]


def _counts(name: str, which: str = "tally_in") -> Corruption:
    def corrupt(entry: Entry, by: int) -> Entry:
        tally = copy.deepcopy(getattr(entry, which))
        slot = min(tally.counts)
        changed = tally.counts[slot]
        setattr(changed, name, getattr(changed, name) + by)
        return replace(entry, **{which: tally})

    return corrupt


def _dropped(entry: Entry, by: int) -> Entry:
    tally = copy.deepcopy(entry.tally_in)
    dropped = tally.counts[min(tally.counts)].dropped
    dropped["a"] = dropped.get("a", 0) + by
    return replace(entry, tally_in=tally)


def _minute(entry: Entry, by: int) -> Entry:
    first = min(entry.tally_in.counts)
    moved = {
        slot._replace(minute=slot.minute + 10 * by) if slot == first else slot: counts
        for slot, counts in entry.tally_in.counts.items()
    }
    return replace(entry, tally_in=Tally(moved))


CORRUPTIONS: dict[str, Corruption] = {
    "batch": lambda entry, by: replace(entry, batch=entry.batch + by),
    "start": lambda entry, by: replace(entry, starts={**entry.starts, V0: entry.starts[V0] + by}),
    "end": lambda entry, by: replace(entry, ends={**entry.ends, V0: entry.ends[V0] + by}),
    "in": _counts("records_in"),
    "passed": _counts("passed"),
    "dead": _counts("dead"),
    "dropped": _dropped,
    "passed_sum": _counts("passed_sum"),
    # Of records that were removed only the number is known: their keys leave some room.
    "key_sum": lambda entry, by: _counts("key_sum")(entry, by * 2**40),
    "rows": lambda entry, by: replace(entry, rows_out=(entry.rows_out or 0) + by),
    "out": _counts("passed", "tally_out"),
    "out_sum": _counts("passed_sum", "tally_out"),
}


@given(entries=ledgers(), which=st.integers(0, 3), by=st.integers(-5, 5).filter(bool))
def test_any_single_wrong_number_is_found(entries: list[Entry], which: int, by: int) -> None:
    which %= len(entries)
    if not entries[which].tally_in.counts:
        return
    for what, corrupt in CORRUPTIONS.items():
        wrong = [*entries[:which], corrupt(entries[which], by), *entries[which + 1 :]]
        found = audit(wrong, recount=lambda place, start, end: end - start).fault
        assert found is not None, what
        # At the latest where the next batch begins.
        assert found.batch in [each.batch for each in wrong[which : which + 2]], what


def test_a_minute_that_moved_is_found() -> None:
    moved = _minute(replace(entry(3, WHOLE, out=Counts(passed=10)), is_row_preserving=True), 1)
    assert "0 passed, and 10 rows came of them" in fault(moved)[1]
