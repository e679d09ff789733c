"""The configuration as it is now, in the words of the parts that ask for it."""

from __future__ import annotations

from ottla.config import topic
from ottla.config.general_options import AUTO_CREATE_TOPICS_ENABLE, DELETE_TOPIC_ENABLE
from ottla.config.overrides import Overrides
from ottla.config.replication_options import FETCH_MAX_BYTES, INTER_BROKER_PROTOCOL_VERSION
from ottla.config.throttle_options import REPLICA_ALTER_LOG_DIRS_IO_MAX_BYTES_PER_SECOND
from ottla.config.transaction_options import PRODUCER_ID_EXPIRATION_MS
from ottla.replication.log_config import log_config
from ottla.storage.config import LogConfig


class Settings:
    """Reads the overrides anew each time; nothing is kept here."""

    def __init__(self, overrides: Overrides) -> None:
        self._overrides = overrides

    def log_config(self, name: str) -> LogConfig:
        broker = self._overrides.broker
        version = broker[INTER_BROKER_PROTOCOL_VERSION]
        return log_config(
            self._overrides.topic(name),
            producer_id_expiration_ms=broker[PRODUCER_ID_EXPIRATION_MS],
            writes_old_formats=int(version.split(".")[0]) < 3,
        )

    def min_insync(self, name: str) -> int:
        return self._overrides.topic(name)[topic.MIN_INSYNC_REPLICAS]

    def unclean_allowed(self, name: str) -> bool:
        return self._overrides.topic(name)[topic.UNCLEAN_LEADER_ELECTION_ENABLE]

    def down_converts(self, name: str) -> bool:
        return self._overrides.topic(name)[topic.MESSAGE_DOWNCONVERSION_ENABLE]

    def fetch_max_bytes(self) -> int:
        return self._overrides.broker[FETCH_MAX_BYTES]

    def auto_creates_topics(self) -> bool:
        return self._overrides.broker[AUTO_CREATE_TOPICS_ENABLE]

    def deletes_topics(self) -> bool:
        return self._overrides.broker[DELETE_TOPIC_ENABLE]

    def log_move_bytes_per_second(self) -> int:
        return self._overrides.broker[REPLICA_ALTER_LOG_DIRS_IO_MAX_BYTES_PER_SECOND]
