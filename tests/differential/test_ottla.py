"""Ottla answers as Kafka 3.9.1 did, except where it means not to; no JVM takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

from tests.differential import recording
from tests.differential.asking import outcomes
from tests.differential.case import SETTINGS, Case
from tests.differential.catalogue import CASES
from tests.differential.run import chosen, compare
from tests.targets.ottla_program import OttlaProgram

Answers = Callable[[str], Mapping[str, list[Any]]]


@pytest.fixture(scope="module")
def recorded() -> Mapping[str, Any]:
    return recording.read()


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """By case, what came of its steps; each kind of broker runs once, when it is asked for."""

    @cache
    def of(broker: str) -> Mapping[str, list[Any]]:
        with OttlaProgram(tmp_path_factory.mktemp(broker), SETTINGS[broker]) as program:
            return {
                case.name: found
                for case, found in outcomes(program.bootstrap, chosen(broker), run="1")
            }

    return of


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_case_is_answered_as_by_kafka(
    answers: Answers, recorded: Mapping[str, Any], case: Case
) -> None:
    lines = compare(case, recorded[case.name], answers(case.broker)[case.name])
    assert not lines, "\n".join([case.name, *lines])
