"""Quotas on their way from the store and the configuration to the parts that keep them."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.config.broker_config import BrokerConfig
from ottla.config.general_options import (
    CONTROLLER_QUOTA_WINDOW_NUM,
    CONTROLLER_QUOTA_WINDOW_SIZE_SECONDS,
    QUOTA_WINDOW_NUM,
    QUOTA_WINDOW_SIZE_SECONDS,
)
from ottla.config.network_options import MAX_CONNECTION_CREATION_RATE
from ottla.handlers.services import Services
from ottla.network.connection import Connection
from ottla.network.server import Server
from ottla.security.connection_rates import UNLIMITED, ConnectionRates
from ottla.security.quotas import Quotas, Windows


class QuotaControl:
    """Handlers see the quotas only while some are set: without any, requests pay nothing."""

    def __init__(self, config: BrokerConfig) -> None:
        windows = Windows(config[QUOTA_WINDOW_NUM], config[QUOTA_WINDOW_SIZE_SECONDS] * 1000)
        controller_windows = Windows(
            config[CONTROLLER_QUOTA_WINDOW_NUM], config[CONTROLLER_QUOTA_WINDOW_SIZE_SECONDS] * 1000
        )
        self.quotas = Quotas(windows, controller_windows)
        self.connections = ConnectionRates(windows)
        self._services: Services | None = None
        self._server: Server | None = None
        self.configure(config)

    def attach(self, services: Services, server: Server) -> None:
        self._services, self._server = services, server
        server.admission.rates = self.connections
        self._show()

    def stored(self, entity_type: str, name: str, values: Mapping[str, str]) -> None:
        if entity_type == "ips":
            self.connections.stored(name, values)
        elif entity_type in ("users", "clients"):
            self.quotas.stored(entity_type, name, values)
            self._show()

    def configure(self, config: BrokerConfig) -> None:
        """The options of new connections may change while running."""
        listeners = [endpoint.listener for endpoint in config.listeners]
        by_listener = {
            # Without its own a listener has no limit but the broker's.
            name: config.of_listener(name)[MAX_CONNECTION_CREATION_RATE]
            if config.has_own(name, MAX_CONNECTION_CREATION_RATE)
            else UNLIMITED
            for name in listeners
        }
        protected = config.inter_broker_listener if len(listeners) > 1 else None
        self.connections.limit(config[MAX_CONNECTION_CREATION_RATE], by_listener, protected)

    def _show(self) -> None:
        if self._services is None or self._server is None:
            return
        if not self.quotas.are_set:
            self._services.quotas = None
        elif self._services.quotas is None:
            self._services.quotas = self.quotas
            self._server.on_each(_count_each_request)


def _count_each_request(connection: Connection) -> None:
    connection.shortcut = None
