"""BROKER_LOGGER: the levels of this process's loggers, described and altered by Kafka's rules.

Levels are those of log4j; Python's logging has no TRACE, so it stands one step below DEBUG.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ottla.config.alterations import Alteration, Operation, altered, checked_operation
from ottla.config.description import UNKNOWN_TYPE, ConfigEntry, Source, Wanted
from ottla.config.refusal import INVALID_CONFIG, INVALID_REQUEST, ConfigRefused

ROOT = "root"
LEVELS = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


def describe_loggers(wanted: Wanted = None) -> list[ConfigEntry]:
    """Every logger that somebody has asked for, and the root of them all."""
    return [
        ConfigEntry(
            name=name,
            value=_level_name(logger.getEffectiveLevel()),
            source=Source.BROKER_LOGGER,
            read_only=False,
            is_sensitive=False,
            type=UNKNOWN_TYPE,
            documentation=None,
        )
        for name, logger in _loggers().items()
        if wanted is None or name in wanted
    ]


def alter_loggers(alterations: Sequence[Alteration], *, validate_only: bool = False) -> None:
    """All or, when one is refused, none."""
    for alteration in alterations:
        _refuse_lists(alteration)
    altered({}, alterations, lambda _: None)  # refuses what names a logger twice
    loggers = _loggers()
    levels = [_checked_level(alteration, loggers) for alteration in alterations]
    if not validate_only:
        for alteration, level in zip(alterations, levels, strict=True):
            loggers[alteration.name].setLevel(level)


def _refuse_lists(alteration: Alteration) -> None:
    operation = checked_operation(alteration)
    if operation in (Operation.APPEND, Operation.SUBTRACT):
        raise ConfigRefused(
            INVALID_REQUEST,
            f"{operation.name.lower()} to the level of {alteration.name} is not allowed; set it",
        )


def _checked_level(alteration: Alteration, loggers: dict[str, logging.Logger]) -> int:
    """What to set; 0 has the level of the parent."""
    name, level = alteration.name, alteration.value or ""
    if name not in loggers:
        raise ConfigRefused(INVALID_CONFIG, f"there is no logger {name}")
    if alteration.operation == Operation.DELETE:
        if name == ROOT:
            raise ConfigRefused(INVALID_REQUEST, f"the logger {ROOT} must have a level; set it")
        return logging.NOTSET
    if level not in LEVELS:
        raise ConfigRefused(
            INVALID_CONFIG, f"{name}: there is no level {level!r}; expected {', '.join(LEVELS)}"
        )
    return LEVELS[level]


def _loggers() -> dict[str, logging.Logger]:
    known = logging.root.manager.loggerDict
    named = {name: known[name] for name in sorted(known)}
    return {ROOT: logging.root} | {
        name: logger for name, logger in named.items() if isinstance(logger, logging.Logger)
    }


def _level_name(level: int) -> str:
    """Of a level in between, the nearest below: what it lets through is at least as severe."""
    at_most = [name for name, number in LEVELS.items() if number <= level]
    return at_most[-1] if at_most else next(iter(LEVELS))
