"""The topic options that compaction goes by, as they are given on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import typer

from ottla.storage.config import LogConfig

_SETTINGS: dict[str, Callable[[LogConfig, str], LogConfig]] = {
    "min.compaction.lag.ms": lambda c, v: replace(c, min_compaction_lag_ms=_at_least(0, v)),
    "max.compaction.lag.ms": lambda c, v: replace(c, max_compaction_lag_ms=_at_least(1, v)),
    "delete.retention.ms": lambda c, v: replace(c, delete_retention_ms=_at_least(0, v)),
    "min.cleanable.dirty.ratio": lambda c, v: replace(c, min_cleanable_dirty_ratio=_ratio(v)),
    "segment.bytes": lambda c, v: replace(c, segment_bytes=_at_least(14, v)),
}


def read_settings(settings: Sequence[str]) -> LogConfig:
    """Kafka's defaults with these on top, each `name=value`; all mistakes at once."""
    config = LogConfig(compacts=True)
    mistakes = []
    for setting in settings:
        name, _, value = setting.partition("=")
        apply = _SETTINGS.get(name.strip())
        if apply is None:
            mistakes.append(f"{setting} is none of {', '.join(_SETTINGS)}.")
            continue
        try:
            config = apply(config, value.strip())
        except ValueError as cause:
            mistakes.append(f"{name}={value}: {cause}.")
    if mistakes:
        raise typer.BadParameter(" ".join(mistakes), param_hint="--set")
    return config


def _at_least(least: int, text: str) -> int:
    if not text.isdecimal() or int(text) < least:
        raise ValueError(f"needs a whole number, {least} or more")
    return int(text)


def _ratio(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = -1.0
    if not 0 <= ratio <= 1:
        raise ValueError("needs a number from 0 to 1")
    return ratio
