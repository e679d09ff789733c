"""For the long run: loops that come, go and crash at any moment, as the dice say."""

from __future__ import annotations

import random
from collections.abc import Collection

from tests.clients.transactions import features as f
from tests.clients.transactions.scenarios import SHORT_SESSION_MS, Scenario
from tests.clients.transactions.stage import Stage

STEPS, MOST, SEEDS = 15, 4, 6
TIMEOUT_MS = 5_000  # what a killed one had begun holds the others up


class _Churn:
    def __init__(self, seed: int) -> None:
        self.__name__ = f"churn_{seed}"
        self._dice = random.Random(seed)

    def __call__(self, stage: Stage, _: Collection[str]) -> None:
        dice = self._dice
        apart: dict[str, bool] = {}
        stage.between(4, 3)
        stage.loop("m")  # one stays
        for step in range(STEPS):
            stage.feed(dice.randrange(40))
            name = f"m{step % (MOST + 1)}"  # at times one that was there before
            if name not in apart and len(apart) < MOST and dice.random() < 0.6:
                apart[name] = dice.random() < 0.6
                stage.loop(
                    name,
                    is_apart=apart[name],
                    session_ms=SHORT_SESSION_MS,
                    timeout_ms=TIMEOUT_MS,
                )
            elif apart:
                leaver = dice.choice(sorted(apart))
                (stage.kill if apart.pop(leaver) else stage.close)(leaver)
            if dice.random() < 0.3:
                stage.wait_until_passed_on()
        stage.feed(10)
        stage.wait_until_passed_on()
        stage.close("m", *(name for name, is_apart in apart.items() if not is_apart))
        stage.check_exactly_once()


CHURNS = tuple(Scenario(_Churn(seed), (f.LOOP, f.CRASH)) for seed in range(SEEDS))
