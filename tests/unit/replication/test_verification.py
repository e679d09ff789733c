"""Transactions that are being verified: which batches may begin them."""

from __future__ import annotations

from ottla.replication.verification import Verifications


def test_all_who_ask_meanwhile_hold_the_same_until_it_ends() -> None:
    verifications = Verifications()
    first = verifications.begin(7, epoch=0, sequence=0)
    assert verifications.begin(7, epoch=0, sequence=5) is first
    assert verifications.begin(8, epoch=0, sequence=0) is not first
    verifications.end(7)
    assert verifications.get(7) is None
    assert verifications.begin(7, epoch=0, sequence=0) is not first
    verifications.clear()
    assert verifications.get(8) is None
    verifications.end(9)


def test_nothing_overtakes_what_was_not_taken() -> None:
    verifications = Verifications()
    assert verifications.takes(7, epoch=0, sequence=5)
    verifications.begin(7, epoch=1, sequence=5)
    verifications.begin(7, epoch=1, sequence=3)
    verifications.begin(7, epoch=1, sequence=8)
    taken = [verifications.takes(7, epoch=1, sequence=sequence) for sequence in (-1, 3, 4, 8)]
    assert taken == [True, True, False, False]


def test_a_new_epoch_begins_anew_and_an_old_one_changes_nothing() -> None:
    verifications = Verifications()
    verifications.begin(7, epoch=1, sequence=3)
    verifications.begin(7, epoch=0, sequence=0)
    assert verifications.takes(7, epoch=1, sequence=3)
    verifications.begin(7, epoch=2, sequence=6)
    assert verifications.takes(7, epoch=2, sequence=6)
    assert not verifications.takes(7, epoch=2, sequence=7)


def test_of_very_many_the_oldest_are_forgotten() -> None:
    verifications = Verifications()
    for producer_id in range(1_001):
        verifications.begin(producer_id, epoch=0, sequence=0)
    assert verifications.get(0) is None
    assert verifications.get(1) is not None
