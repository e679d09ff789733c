"""Dead letters and the guard on a broker of our own; see repair_stories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ottla.testing.broker import Broker
from tests.integration.repair_stories import STORIES, Stage


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_it_happens_so(broker: Broker, tmp_path: Path, story: Callable[[Stage], None]) -> None:
    story(Stage(broker.bootstrap, story.__name__, tmp_path))
