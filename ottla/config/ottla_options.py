"""Ottla's own options, which Kafka does not have."""

from __future__ import annotations

from ottla.config.kind import INT, STRING
from ottla.config.log_options import LOG_DIRS
from ottla.config.option import Computed, Option

OTTLA_METADATA_PATH = Option(
    name="ottla.metadata.path",
    type=STRING,
    default=Computed(lambda config: f"{config[LOG_DIRS].split(',')[0].strip()}/ottla-metadata.db"),
    doc="The embedded metadata store's file, used when zookeeper.connect is not set.",
)
OTTLA_HTTP_HOST = Option(
    name="ottla.http.host",
    type=STRING,
    default="127.0.0.1",
    doc="Where metrics and health are served; loopback, for it asks nobody who they are.",
)
OTTLA_HTTP_PORT = Option(
    name="ottla.http.port",
    type=INT,
    default=0,
    at_least=-1,
    at_most=65_535,
    doc="The port of metrics and health; 0 takes a free one, with -1 there is none.",
)
