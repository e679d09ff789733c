"""The options of transactions, in the words of the rules."""

from __future__ import annotations

from typing import NamedTuple

from ottla.config import network_options
from ottla.config import transaction_options as options
from ottla.config.broker_config import BrokerConfig


class TransactionSettings(NamedTuple):
    max_timeout_ms: int
    abort_timed_out_interval_ms: int
    id_expiration_ms: int
    remove_expired_interval_ms: int
    load_buffer_bytes: int
    append_timeout_ms: int


def transaction_settings(config: BrokerConfig) -> TransactionSettings:
    return TransactionSettings(
        max_timeout_ms=config[options.TRANSACTION_MAX_TIMEOUT_MS],
        abort_timed_out_interval_ms=config[
            options.TRANSACTION_ABORT_TIMED_OUT_TRANSACTION_CLEANUP_INTERVAL_MS
        ],
        id_expiration_ms=config[options.TRANSACTIONAL_ID_EXPIRATION_MS],
        remove_expired_interval_ms=config[
            options.TRANSACTION_REMOVE_EXPIRED_TRANSACTION_CLEANUP_INTERVAL_MS
        ],
        load_buffer_bytes=config[options.TRANSACTION_STATE_LOG_LOAD_BUFFER_SIZE],
        append_timeout_ms=config[network_options.REQUEST_TIMEOUT_MS],
    )
