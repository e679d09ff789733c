"""Where requests wait is swept as the options say."""

from __future__ import annotations

from tests.unit.handlers.one_broker import one_broker
from tests.virtual_time import on_virtual_time


@on_virtual_time
async def test_each_kind_of_waiting_request_has_its_own_purge_interval() -> None:
    options = {
        "fetch.purgatory.purge.interval.requests": "7",
        "producer.purgatory.purge.interval.requests": "8",
        "delete.records.purgatory.purge.interval.requests": "9",
    }
    async with one_broker(options) as broker:
        replicas = broker.broker.replicas
        purgatories = (replicas.fetches, replicas.produces, replicas.deletions)
        assert [each.purge_interval for each in purgatories] == [7, 8, 9]
