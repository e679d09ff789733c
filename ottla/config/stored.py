"""What the store has for all brokers or for one, and what of it may count.

Stored options may be older than the rules, or written by another's hand: what may not be set is
logged and ignored, but not forgotten, for whoever rewrites the rest must not erase it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from ottla.config.broker_rules import (
    listening_names,
    per_broker_names,
    read_only_names,
    unprefixed_names,
)
from ottla.config.names import find_option
from ottla.config.option import ConfigError

log = logging.getLogger(__name__)


class Stored:
    """`texts` as stored; `usable` without what is ignored; `effective` without secrets too.

    Kafka stores secrets encrypted, and nobody here can decrypt them.
    """

    __slots__ = ("effective", "texts", "usable")

    def __init__(self, texts: Mapping[str, str], *, cluster_wide: bool) -> None:
        self.texts = dict(texts)
        self.usable = dict(texts)
        for name, reason in _ignored(texts, cluster_wide=cluster_wide).items():
            log.warning("the stored option %s is ignored: %s", name, reason)
            del self.usable[name]
        secret = [name for name in self.usable if _is_secret(name)]
        for name in secret:
            log.warning("the stored secret %s is ignored: it cannot be decrypted", name)
        self.effective = {name: text for name, text in self.usable.items() if name not in secret}


def _ignored(texts: Mapping[str, str], *, cluster_wide: bool) -> dict[str, str]:
    reasons = dict.fromkeys(read_only_names(texts), "it cannot change while the broker runs")
    reasons |= dict.fromkeys(listening_names(texts), "only server.properties says where we listen")
    reasons |= dict.fromkeys(unprefixed_names(texts), "it can be set for one listener only")
    if cluster_wide:
        reasons |= dict.fromkeys(per_broker_names(texts), "it can be set for one broker only")
    for name, text in texts.items():
        if name not in reasons and (option := find_option(name)):
            try:
                option.parse(text)
            except ConfigError as error:
                reasons[name] = str(error)
    return reasons


def _is_secret(name: str) -> bool:
    option = find_option(name)
    return option is not None and option.sensitive
