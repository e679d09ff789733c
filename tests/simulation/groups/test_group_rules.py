"""The rules of a group against a random crowd. `make sim SEED=123` repeats one."""

from __future__ import annotations

from ottla.coordinators.groups.state import GroupState
from tests.simulation.groups.crowd import PARTITIONS, Crowd
from tests.simulation.seeds import given_seeds

STEPS = 400


@given_seeds(30, soak=5_000)
def test_a_partition_has_one_owner_a_request_one_answer_and_the_log_knows(seed: int) -> None:
    crowd = Crowd(seed)
    for _ in range(STEPS):
        crowd.step()
    crowd.recover()
    if crowd.group.state is GroupState.STABLE:
        generation = crowd.group.generation
        owned = {id: member.assignment for id, member in crowd.group.members.items()}
        shared = sorted(partition for data in owned.values() for partition in data)
        assert shared in ([], list(range(PARTITIONS))), f"generation {generation}: {owned}"


@given_seeds(3, soak=50)
def test_the_same_seed_tells_the_same_story(seed: int) -> None:
    stories = []
    for _ in range(2):
        crowd = Crowd(seed)
        for _ in range(STEPS):
            crowd.step()
        stories.append((crowd.transcript, crowd.driver.history.as_json()))
    assert stories[0] == stories[1]
