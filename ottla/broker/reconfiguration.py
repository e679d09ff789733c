"""Dynamic configuration on its way from the store to the parts that it changes."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.broker.host_limits import HostLimits
from ottla.broker.limits import limits_of
from ottla.broker.quota_control import QuotaControl
from ottla.broker.settings import Settings
from ottla.broker.tending import Tending
from ottla.config.overrides import BrokerChanged, Changed, Overrides, TopicChanged
from ottla.network.server import Server
from ottla.replication.partition import Partition
from ottla.replication.replicas import Replicas
from ottla.timing.slices import SlicedWork
from ottla.timing.timer import Timer

_ALL_BROKERS = "<default>"


class Reconfiguration:
    """Takes what the store says; tells the logs and the server what they must know."""

    def __init__(
        self,
        broker_id: int,
        overrides: Overrides,
        settings: Settings,
        quotas: QuotaControl,
        hosts: HostLimits,
        timer: Timer,
    ) -> None:
        self._broker_id = broker_id
        self._overrides = overrides
        self._settings = settings
        self._quotas = quotas
        self._hosts = hosts
        self._work = SlicedWork(timer)
        self._replicas: Replicas | None = None
        self._server: Server | None = None
        self._tending: Tending | None = None
        overrides.on_change(self._changed)

    def attach(self, replicas: Replicas, server: Server) -> None:
        self._replicas, self._server = replicas, server

    def attach_tending(self, tending: Tending) -> None:
        self._tending = tending

    def stored(self, entity_type: str, name: str, values: Mapping[str, str]) -> None:
        if entity_type == "topics":
            self._overrides.set_topic(name, values)
        elif entity_type == "brokers" and name == _ALL_BROKERS:
            self._overrides.set_all_brokers(values)
        elif entity_type == "brokers" and name == str(self._broker_id):
            self._overrides.set_this_broker(values)
        else:
            self._quotas.stored(entity_type, name, values)

    def _changed(self, changed: Changed) -> None:
        if isinstance(changed, BrokerChanged):
            self._quotas.configure(changed.after)
            if self._tending is not None:
                self._tending.configure(changed.after)
        if self._replicas is None or self._server is None:
            return  # whatever is opened later asks for its configuration itself
        partitions = self._replicas.partitions.values()
        if isinstance(changed, BrokerChanged):
            self._server.change_limits(limits_of(changed.after, self._hosts))
            self._configure_all(list(partitions))
        else:
            assert isinstance(changed, TopicChanged)
            self._configure_all([p for p in partitions if p.topic == changed.topic])

    def _configure_all(self, partitions: list[Partition]) -> None:
        """In slices. Each partition takes what counts at its turn, so that rounds may overlap."""
        self._work.run(map(self._configure, partitions))

    def _configure(self, partition: Partition) -> None:
        partition.min_insync = self._settings.min_insync(partition.topic)
        if partition.log is not None:
            partition.log.configure(self._settings.log_config(partition.topic))
        partition.reconsider()
