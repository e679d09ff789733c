"""The recording belongs to these cases, and a live Kafka answers as recorded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ottla.protocol.registry import request_type
from tests.differential import recording
from tests.differential.catalogue import CASES
from tests.differential.intended import INTENDED
from tests.differential.record import answers_of
from tests.differential.run import compare
from tests.targets.target import TARGETS

# What clients ask of a broker, with every version that 3.9.1 knows.
SERVED = (*range(4), *range(8, 52), 57, 60, 61, 65, 66, 67)


def test_no_two_cases_have_one_name() -> None:
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []


def test_every_case_is_recorded_step_by_step() -> None:
    recorded = {name: [title for title, _ in steps] for name, steps in recording.read().items()}
    assert recorded == {case.name: [step.title for step in case.steps] for case in CASES}


def test_every_version_of_every_api_is_asked() -> None:
    asked = {(step.api_key, step.version) for case in CASES for step in case.steps}
    wanted = {
        (key, version)
        for key in SERVED
        for version in range(request_type(key).oldest, request_type(key).newest + 1)
    }
    assert sorted(wanted - asked) == []


def test_every_intended_difference_says_why() -> None:
    assert all(each.why for each in INTENDED)


@pytest.mark.skipif(
    "kafka" not in TARGETS, reason="a real Kafka is asked by OTTLA_TEST_PROFILE=soak"
)
def test_a_live_kafka_answers_as_recorded(tmp_path: Path) -> None:
    recorded = recording.read()
    differing = [
        "\n".join([case.name, *lines])
        for case, outcomes in answers_of("kafka", tmp_path, run="ab12")
        if (lines := compare(case, recorded[case.name], outcomes))
    ]
    assert not differing, "\n".join(differing)
