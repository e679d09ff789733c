"""A broker is attacked, and serves honest clients meanwhile and afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.differential.case import DEFAULT, SETTINGS
from tests.hostile.attacker import Attacker, NeverReads
from tests.hostile.attacks import ATTACKS, Attack
from tests.targets.target import TARGETS, started

ROUNDS, ATTACKS_A_ROUND = 8, 25


@pytest.fixture(scope="module", params=TARGETS)
def bootstrap(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with started(request.param, tmp_path_factory.mktemp("broker"), SETTINGS[DEFAULT]) as address:
        yield address


@pytest.mark.parametrize("seed", range(3))
def test_honest_clients_are_served_between_attacks(seed: int, bootstrap: str) -> None:
    attacker = Attacker(bootstrap, seed)
    attacker.prepare()
    for _ in range(ROUNDS):
        last = [attacker.attack() for _ in range(ATTACKS_A_ROUND)]
        assert attacker.is_served(), last


def test_one_who_never_reads_is_not_read_from_either(bootstrap: str) -> None:
    deaf = NeverReads(bootstrap)
    try:
        assert deaf.is_stopped_within(64 << 20), f"{deaf.sent_bytes} bytes were taken"
        assert Attacker(bootstrap, 0).is_served()
    finally:
        deaf.close()


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_seed_gives_the_same_attack_again(attack: Attack) -> None:
    assert attack(Random(7)) == attack(Random(7))
    assert len({attack(Random(seed)) for seed in range(20)}) > 1
