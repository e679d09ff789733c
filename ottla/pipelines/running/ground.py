"""What a generation of a pipeline stands on: its checkpoint, its ledger, and the guard of both."""

from __future__ import annotations

from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.repair.checkpoint import Checkpoint
from ottla.pipelines.repair.guard import Guard
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.running.state import StateFolder


class Ground:
    def __init__(self, state: StateFolder, cluster: Cluster, generation: int) -> None:
        self.generation = generation
        self.folder = state.generation(generation)
        checkpoint = state.folder_of(generation, "checkpoint")
        self.checkpoint_path = checkpoint.path
        self.checkpoint = Checkpoint(checkpoint)
        self.ledger = Ledger(state.folder_of(generation, "ledger"))
        self.guard = Guard(self.folder, cluster, self.ledger)

    def reached(self) -> dict[Place, int]:
        """Where the last finished batch ended; nothing, if there is none."""
        batch = self.checkpoint.last_committed()
        return {} if batch is None else self.checkpoint.offsets(batch)
