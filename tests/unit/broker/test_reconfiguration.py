"""A change of configuration on its way to many partitions."""

from __future__ import annotations

import pytest

from ottla.broker.settings import Settings
from tests.unit.handlers.one_broker import OneBroker, one_broker
from tests.virtual_time import on_virtual_time, virtual_loop

PARTITIONS = 50


def configured(broker: OneBroker, max_message_bytes: int) -> int:
    """How many of the partitions have heard of it."""
    partitions = broker.broker.replicas.partitions.values()
    sizes = [each.local_log().config.max_message_bytes for each in partitions]
    return sizes.count(max_message_bytes)


@pytest.fixture
def slow_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A partition's configuration takes a millisecond."""
    log_config = Settings.log_config

    def slowly(settings: Settings, name: str) -> object:
        virtual_loop().now += 0.001
        return log_config(settings, name)

    monkeypatch.setattr(Settings, "log_config", slowly)


@pytest.mark.usefixtures("slow_settings")
@on_virtual_time
async def test_a_change_for_all_partitions_lets_others_have_their_turn() -> None:
    async with one_broker() as broker:
        await broker.create("orders", PARTITIONS)
        broker.broker.overrides.set_this_broker({"message.max.bytes": "500"})
        assert 1 <= configured(broker, 500) <= 10
        # The next one begins before the first is through, and counts for all in the end.
        broker.broker.overrides.set_this_broker({"message.max.bytes": "600"})
        await broker.until(lambda: configured(broker, 600) == PARTITIONS)


@pytest.mark.usefixtures("slow_settings")
@on_virtual_time
async def test_a_change_of_a_large_topic_lets_others_have_their_turn() -> None:
    async with one_broker() as broker:
        await broker.create("orders", PARTITIONS)
        broker.broker.overrides.set_topic("orders", {"max.message.bytes": "500"})
        assert 1 <= configured(broker, 500) <= 10
        await broker.until(lambda: configured(broker, 500) == PARTITIONS)
