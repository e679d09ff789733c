"""What a broker says on stderr: one line an event, little of it unless more is asked for."""

from __future__ import annotations

import logging
import sys
import time
from enum import Enum
from typing import Annotated

import typer

from ottla.config.loggers import LEVELS

# Starting and stopping are told at every level but the highest.
_ALWAYS = "ottla.broker.service"


class Level(Enum):
    """Kafka's words, as for the loggers of a running broker."""

    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"
    FATAL = "fatal"


LogLevel = Annotated[
    Level,
    typer.Option("--log-level", case_sensitive=False, help="Tell this and worse on stderr."),
]


class OneLine(logging.Formatter):
    """Time in UTC, level, logger, text. Line ends in it, a stack's too, are written as `\\n`."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\r", "\\r").replace("\n", "\\n")


def set_up_logs(level: Level) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    logging.basicConfig(level=LEVELS[level.name], handlers=[handler], force=True)
    if level is Level.WARN:
        logging.getLogger(_ALWAYS).setLevel(logging.INFO)
