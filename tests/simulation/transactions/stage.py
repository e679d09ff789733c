"""What all who take part share: the machine, the dice, the history, and whether it is over."""

from __future__ import annotations

import asyncio
from random import Random

from ottla.simulation.broker import SimulatedMachine
from ottla.verify.history import Recorder, TopicPartition
from tests.simulation.transactions.line import Line

INPUTS = [TopicPartition("input", index) for index in range(2)]
OUTPUTS = [TopicPartition("output", index) for index in range(2)]
GROUP = "loop"


class Stage:
    def __init__(self, machine: SimulatedMachine, chance: Random) -> None:
        self.machine = machine
        self.chance = chance
        loop = machine.network.loop
        self.recorder = Recorder(lambda: int(loop.time() * 1_000_000))
        self.is_closing = False  # whoever has a transaction ends it, and begins no other
        self.acknowledged = asyncio.Event()  # just now, of anything
        self.tasks = asyncio.TaskGroup()
        self._lives = 0

    def line(self, name: str) -> Line:
        line = Line(self.machine, self.chance, name, self.tasks)
        line.is_calm = self.is_closing
        return line

    def new_name(self, role: str) -> str:
        self._lives += 1
        return f"{role}.{self._lives}"

    def happens(self, likelihood: float) -> bool:
        return not self.is_closing and self.chance.random() < likelihood

    async def dawdle(self, longest_s: float) -> None:
        await asyncio.sleep(self.chance.uniform(0, longest_s))
