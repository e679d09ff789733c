"""Dead letters and the guard on a real Kafka; see repair_stories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.repair_stories import STORIES, Stage
from tests.kafka.peer import KafkaPeer


@pytest.fixture(scope="module")
def peer(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaPeer]:
    peer = KafkaPeer(classpath, tmp_path_factory.mktemp("repair"), {})
    try:
        peer.start()
        yield peer
    finally:
        peer.close()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_it_happens_so(peer: KafkaPeer, tmp_path: Path, story: Callable[[Stage], None]) -> None:
    story(Stage(peer.bootstrap, story.__name__, tmp_path))
