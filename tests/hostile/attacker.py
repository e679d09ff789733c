"""Carries attacks to a broker, in whole or in dribbles, and asks whether it still serves."""

from __future__ import annotations

import socket
from collections import Counter
from contextlib import suppress
from enum import Enum
from random import Random

from ottla.protocol.apis.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.apis.metadata import MetadataRequest
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import encode_request
from tests.hostile.attacks import ATTACKS, TOPIC
from tests.targets.connection import ask

_PATIENCE_S = 0.05  # a broker owes a hostile client nothing
_DRIBBLES = 40
_STUCK_S = 2


class Manner(Enum):
    """How the bytes get there."""

    AT_ONCE = "at once"
    DRIBBLED = "dribbled"
    HALF_CLOSED = "half closed"
    RESET = "reset"


class Attacker:
    """The same seed does the same, as far as the broker's timing lets it."""

    def __init__(self, bootstrap: str, seed: int) -> None:
        self.bootstrap = bootstrap
        self.done: Counter[str] = Counter()
        self._chance = Random(seed)
        host, _, port = bootstrap.rpartition(":")
        self._address = (host, int(port))

    def prepare(self) -> None:
        """The topic that some attacks are about, so that they get as far as the records."""
        wanted = CreatableTopic(
            name=TOPIC, num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        (result,) = ask(self.bootstrap, CreateTopicsRequest(topics=[wanted]), 5).topics
        assert result.error_code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS), result

    def attack(self) -> str:
        """One connection; what it did."""
        chosen = self._chance.choice(ATTACKS)
        manner = self._chance.choice(list(Manner))
        data = chosen(self._chance)
        # Hanging up in the middle is a broker's good right.
        with self._connect() as connection, suppress(OSError):
            self._send(connection, data, manner)
        name = f"{chosen.__name__}, {manner.value}"
        self.done[name] += 1
        return name

    def is_served(self) -> bool:
        """An honest client gets its answer."""
        answer = ask(self.bootstrap, MetadataRequest(topics=[]), 1)
        return bool(answer.brokers)

    def _connect(self) -> socket.socket:
        connection = socket.create_connection(self._address, timeout=10)
        connection.settimeout(_PATIENCE_S)
        return connection

    def _send(self, connection: socket.socket, data: bytes, manner: Manner) -> None:
        if manner is Manner.DRIBBLED:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(min(len(data), _DRIBBLES)):
                connection.sendall(data[at : at + 1])
            data = data[_DRIBBLES:]
        connection.sendall(data)
        if manner is Manner.HALF_CLOSED:
            connection.shutdown(socket.SHUT_WR)
        if manner is Manner.RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        else:
            connection.recv(1 << 16)


class NeverReads:
    """Asks and asks, and never reads an answer: the broker must stop reading, not fill up."""

    def __init__(self, bootstrap: str) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = bootstrap.rpartition(":")
        self._socket.connect((host, int(port)))
        self._socket.settimeout(_STUCK_S)
        self.sent_bytes = 0

    def is_stopped_within(self, limit_bytes: int) -> bool:
        """True once the broker takes no more, or hangs up; False if it took all that."""
        asked = MetadataRequest(topics=None)
        frames = 1000 * encode_request(asked, 9, correlation_id=1, client_id="deaf")
        try:
            while self.sent_bytes < limit_bytes:
                rest = memoryview(frames)
                while rest:
                    sent = self._socket.send(rest)
                    self.sent_bytes += sent
                    rest = rest[sent:]
        except (TimeoutError, ConnectionError):
            return True
        return False

    def close(self) -> None:
        self._socket.close()
