"""Ranges of topics, read outside of Spark."""

from __future__ import annotations

import json
import subprocess
import sys

from ottla.pipelines.kafka import Cluster
from ottla.pipelines.topic_records import read_records
from ottla.testing.broker import Broker
from tests.pipelines.topics import fill_raw

UNREADABLE = "\N{REPLACEMENT CHARACTER}"


def test_a_header_whose_name_is_no_text_takes_only_the_headers_away(
    broker: Broker, ottla_topic: str
) -> None:
    fill_raw(broker.bootstrap, ottla_topic, header=b"\xff\xfe")
    (record,) = read_records(Cluster(broker.bootstrap), {(ottla_topic, 0): (0, 1)})
    assert record.headers == ((UNREADABLE, None),)


def test_the_command_reads_such_a_record_too(broker: Broker, ottla_topic: str) -> None:
    fill_raw(broker.bootstrap, ottla_topic, header=b"\xff\xfe")
    command = ["consume", ottla_topic, "-b", broker.bootstrap, "--from-beginning", "--exit"]
    done = subprocess.run(
        [sys.executable, "-m", "ottla", *command, "--json"], check=True, capture_output=True
    )
    assert UNREADABLE in str(json.loads(done.stdout)["headers"])
