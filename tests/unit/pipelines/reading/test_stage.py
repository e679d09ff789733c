"""The reading stage: what goes on, what is told, and that nothing is lost between."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipelines.declaration import Otherwise, Rule
from ottla.pipelines.declare import between, not_null, one_of, unique
from ottla.pipelines.reading.json_rows import JsonDecoder
from ottla.pipelines.reading.side import Chunk
from ottla.pipelines.reading.stage import ReadingStage
from ottla.pipelines.reading.stopping import RuleStopsPipeline
from ottla.pipelines.reading.tally import Slot
from ottla.pipelines.reading.unique import UniqueStage
from ottla.pipelines.repair.letter import DeadLetter
from ottla.pipelines.schema import structure
from tests.unit.pipelines.reading.records import MINUTE, records

SHAPE = {"user": "string", "amount": "long or null"}
GOOD = b'{"user": "a", "amount": 1}'
LARGE = b'{"user": "a", "amount": 99}'
NOBODY = b'{"amount": 1}'
BAD = b"{"


class Heard:
    """What the driver would hear."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []

    def tell(self, chunk: Chunk) -> None:
        self.chunks.append(chunk)


def stage(rules: Sequence[Rule] = (), malformed: str = "dead-letter") -> tuple[Any, Heard]:
    heard: Any = Heard()
    return ReadingStage(JsonDecoder(structure(SHAPE)), rules, Otherwise(malformed), heard), heard


def read(
    *batches: pa.RecordBatch, rules: Sequence[Rule] = (), malformed: str = "dead-letter"
) -> tuple[list[dict[str, Any]], Chunk]:
    reading, heard = stage(rules, malformed)
    rows = [row for batch in reading(iter(batches)) for row in batch.to_pylist()]
    (chunk,) = heard.chunks
    return rows, chunk


def opened(chunk: Chunk) -> list[DeadLetter]:
    """As the driver has them after they were pickled."""
    received = pickle.loads(pickle.dumps(chunk))
    return [DeadLetter._make(each) for some in received.dead_letters for each in some.opened()]


def test_a_row_knows_what_record_it_was() -> None:
    (row,), chunk = read(records([GOOD], keys=[b"k"]))
    assert row.pop("_origin_timestamp").timestamp() == MINUTE * 60
    assert row == {
        "user": "a", "amount": 1,
        "_origin_topic": "views", "_origin_partition": 0, "_origin_offset": 0, "_origin_key": b"k",
    }  # fmt: skip
    assert chunk.dead_letters == []


def test_a_dead_letter_has_the_record_and_why() -> None:
    rows, chunk = read(records([GOOD, BAD, NOBODY], keys=[b"a", None, b"c"]))
    assert len(rows) == 1
    bad, nobody = opened(chunk)
    assert bad == (
        "views", 0, 1, MINUTE * 60_000, None, b"{", (("h", b"x"),), "malformed",
        "Input data was truncated",
    )  # fmt: skip
    assert (nobody.offset, nobody.value, nobody.rule) == (2, NOBODY, "not null in schema")


def test_records_are_counted_by_partition_and_minute_of_theirs() -> None:
    first = records([GOOD, BAD, GOOD], minutes=[5, 6, 5], keys=[b"a", b"b", b"c"])
    second = records([GOOD], partition=7, minutes=[5], keys=[b"d"])
    _, chunk = read(first, second)
    counts = chunk.tally.counts
    assert set(counts) == {Slot("views", 0, 5), Slot("views", 0, 6), Slot("views", 7, 5)}
    one = counts["views", 0, 5]  # type: ignore[index]  # a slot is a tuple
    assert (one.records_in, one.passed, one.dead) == (2, 2, 0)
    assert one.key_sum == one.passed_sum == zlib.crc32(b"a") + zlib.crc32(b"c")
    other = counts["views", 0, 6]  # type: ignore[index]
    assert (other.records_in, other.passed, other.dead, other.passed_sum) == (1, 0, 1, 0)
    assert other.key_sum == zlib.crc32(b"b")


def test_a_time_far_off_and_the_largest_checksums_are_counted_exactly() -> None:
    """A producer may take microseconds for milliseconds."""
    far = 1_700_000_000_000_000 // 60_000
    batch = records([GOOD] * 4, partition=2**24 - 1, minutes=[far, -1, far, 0])
    crc = pa.array([2**32 - 1] * 4, type=pa.int64())
    batch = batch.set_column(batch.schema.get_field_index("key_crc"), "key_crc", crc)
    reading, heard = stage()
    assert [len(rows) for rows in reading(iter([batch]))] == [4]
    (chunk,) = heard.chunks
    found = {slot: (each.passed, each.key_sum) for slot, each in chunk.tally.counts.items()}
    assert found == {
        Slot("views", 2**24 - 1, far): (2, 2 * (2**32 - 1)),
        Slot("views", 2**24 - 1, -1): (1, 2**32 - 1),
        Slot("views", 2**24 - 1, 0): (1, 2**32 - 1),
    }


def test_a_record_counts_for_the_first_rule_that_removes_it_and_every_warning() -> None:
    rules = [
        between("amount", 0, 10, otherwise="drop"),
        one_of("amount", 1, otherwise="dead-letter"),
        not_null("amount", otherwise="warn"),
        between("amount", 0, 50, otherwise="warn"),
    ]
    _, chunk = read(records([GOOD, LARGE, b'{"user": "a", "amount": 2}', BAD]), rules=rules)
    total = chunk.tally.total()
    assert (total.passed, total.dead) == (1, 2)
    assert total.dropped == {"between(amount)": 1}
    assert total.warned == {"between(amount)": 1}
    assert [letter.rule for letter in opened(chunk)] == ["malformed", "one_of(amount)"]


def test_a_rule_may_stop_the_pipeline_and_names_the_record() -> None:
    rules = [between("amount", 0, 10, otherwise="stop")]
    with pytest.raises(RuleStopsPipeline) as stopped:
        read(records([GOOD, LARGE]), rules=rules)
    assert str(stopped.value) == (
        "OTTLA-STOP between(amount): views-0 at offset 1: amount is 99, not at least 0 and at most"
        " 10"
    )


def test_malformed_records_may_stop_it_or_be_dropped_but_not_go_on() -> None:
    with pytest.raises(RuleStopsPipeline, match="OTTLA-STOP malformed: views-0 at offset 0"):
        read(records([BAD]), malformed="stop")
    for otherwise in ("drop", "warn"):
        rows, chunk = read(records([BAD, GOOD]), malformed=otherwise)
        assert len(rows) == 1
        assert chunk.tally.total().dropped == {"malformed": 1}
        assert chunk.dead_letters == []


def test_nothing_to_read_is_told_too() -> None:
    rows, chunk = read(records([]))
    assert rows == []
    assert chunk == Chunk()


def unique_after_reading(rule: Rule, *batches: pa.RecordBatch) -> tuple[list[Any], Any]:
    reading, heard = stage([rule])
    keeping = UniqueStage(rule, heard)  # type: ignore[arg-type]
    rows = [row for batch in keeping(reading(iter(batches))) for row in batch.to_pylist()]
    total = heard.chunks[0].tally
    total.merge(heard.chunks[1].tally)
    return rows, (total.total(), opened(heard.chunks[1]))


def test_of_equal_values_the_first_by_place_stays_however_they_come() -> None:
    early, late = records([GOOD, BAD]), records([GOOD, LARGE], partition=1)
    for batches in ((early, late), (late, early)):
        rows, (total, letters) = unique_after_reading(unique("user"), *batches)
        assert [row["_origin_partition"] for row in rows] == [0]
        assert (total.records_in, total.passed, total.dead) == (4, 1, 3)
        assert total.adds_up
        assert total.passed_sum == zlib.crc32(b"k0")
        assert [(letter.partition, letter.offset) for letter in letters] == [(1, 0), (1, 1)]
        assert letters[1].value == LARGE


def test_null_is_like_no_other_null() -> None:
    nothing = b'{"user": "a"}'
    rows, (total, _) = unique_after_reading(unique("amount"), records([nothing, nothing, GOOD]))
    assert len(rows) == total.passed == 3


def test_a_repeated_value_may_only_be_warned_of() -> None:
    rule = unique("user", otherwise="warn")
    rows, (total, letters) = unique_after_reading(rule, records([GOOD, GOOD, GOOD]))
    assert len(rows) == 3
    assert total.warned == {"unique(user)": 2}
    assert (total.passed, letters) == (3, [])


VALUES = st.sampled_from([GOOD, LARGE, NOBODY, BAD, None]) | st.binary(max_size=12)
OTHERWISE = st.sampled_from(["warn", "drop", "dead-letter"])


@given(st.lists(st.tuples(VALUES, st.integers(0, 2)), max_size=12), OTHERWISE, OTHERWISE)
def test_what_comes_in_is_passed_dead_or_dropped(
    given_records: list[tuple[bytes | None, int]], otherwise: str, malformed: str
) -> None:
    values = [value for value, _ in given_records]
    batch = records(values, minutes=[minute for _, minute in given_records])
    rules = [between("amount", 0, 10, otherwise=otherwise)]
    rows, chunk = read(batch, rules=rules, malformed=malformed)
    total = chunk.tally.total()
    assert all(counts.adds_up for counts in chunk.tally.counts.values())
    assert total.records_in == len(values)
    assert total.passed == len(rows)
    assert total.dead == len(opened(chunk))
    assert total.key_sum == sum(zlib.crc32(b"k%d" % index) for index in range(len(values)))
