"""For the long run: members that come, go and crash as the dice say, up to five at a time."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any

from tests.clients.groups import features as f
from tests.clients.groups.crew import Crew
from tests.clients.groups.options import COOPERATIVE, RANGE
from tests.clients.groups.scenarios import SHORT_SESSION_MS, Scenario

STEPS, MOST, SEEDS = 12, 5, 6


class _Churn:
    def __init__(self, seed: int) -> None:
        self.__name__ = f"churn_{seed}"
        self._seed = seed

    def __call__(self, crew: Crew, abilities: Collection[str]) -> None:
        dice = random.Random(self._seed)
        is_cooperative = self._seed % 2 and f.COOPERATIVE in abilities
        options: dict[str, Any] = {
            "assignor": COOPERATIVE if is_cooperative else RANGE,
            "session_ms": SHORT_SESSION_MS,
        }
        topic = crew.topic()
        present: list[str] = ["m"]
        apart: list[str] = []
        crew.open("m", **options)  # one stays
        for step in range(STEPS):
            crew.produce(topic)
            name = f"m{step}"
            chance = dice.random()
            if len(present) < MOST and chance < 0.6:
                present.append(name)
                if dice.random() < 0.3:
                    apart.append(name)
                    crew.open_apart(name, **options)
                else:
                    crew.open(name, **options)
            elif len(present) > 1:
                leaver = present.pop(dice.randrange(1, len(present)))
                (crew.kill if leaver in apart else crew.close)(leaver)
            if dice.random() < 0.5:
                crew.settle(*present)
        crew.settle(*present)
        crew.wait_until_read()
        crew.wait_until_committed()
        crew.check(twice=crew.sent if apart else ())


CHURNS = tuple(Scenario(_Churn(seed), (f.CRASH,)) for seed in range(SEEDS))
