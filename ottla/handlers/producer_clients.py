"""Which client wrote last as which transactional producer, to name it when a transaction hangs."""

from __future__ import annotations

from typing import NamedTuple

from ottla.network.connection import Connection

_MOST = 10_000
_LONGEST = 200  # of a name; on the wire it may have 32,767 bytes


class ProducerClient(NamedTuple):
    client_id: str | None
    peer: str


class ProducerClients:
    """Remembers also those that have gone: of a dead producer one wants to know most."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._clients: dict[int, ProducerClient] = {}  # by producer id, who wrote last at the end

    def wrote(self, producer_id: int, connection: Connection) -> None:
        clients = self._clients
        clients.pop(producer_id, None)
        name = connection.client_id
        clients[producer_id] = ProducerClient(name and name[:_LONGEST], connection.peer)
        if len(clients) > self._most:
            del clients[next(iter(clients))]

    def get(self, producer_id: int) -> ProducerClient | None:
        return self._clients.get(producer_id)
