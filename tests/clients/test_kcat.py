"""kcat, where it is installed: it writes what others read, and reads what others wrote."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.clients.client import PATIENCE_S, Sent
from tests.clients.conftest import Clients, make_topic
from tests.clients.roster import READER
from tests.clients.test_records import numbered
from tests.kafka import jars


@pytest.fixture(scope="module", autouse=True)
def _kcat() -> None:
    jars.require("kcat")


RECORDS = [Sent(b"value %d" % i, b"key %d" % i, headers=(("h", b"x"),)) for i in range(20)]


def kcat(clients: Clients, *options: str, feed: bytes = b"") -> bytes:
    command = ["kcat", "-b", clients.bootstrap, *options]
    return subprocess.run(
        command, input=feed, check=True, capture_output=True, timeout=PATIENCE_S
    ).stdout


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_kcat_writes(codec: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    lines = b"".join(b"%s|%s\n" % (record.key, record.value) for record in RECORDS)
    kcat(clients, "-P", "-t", topic, "-p", "0", "-K", "|", "-z", codec, "-H", "h=x", feed=lines)
    read = clients[READER].consume(topic, partition=0, offset=0, count=len(RECORDS))
    timeless = [seen._replace(record=seen.record._replace(timestamp=0)) for seen in read]
    assert timeless == numbered([record._replace(timestamp=0) for record in RECORDS])


def test_kcat_reads(clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    clients[READER].produce(topic, RECORDS, codec="lz4")
    options = (
        "-C",
        "-t",
        topic,
        "-p",
        "0",
        "-o",
        "beginning",
        "-e",
        "-q",
        "-f",
        "%o %T %k %s %h\\n",
    )
    printed = kcat(clients, *options).decode().splitlines()
    assert printed == [
        f"{i} {record.timestamp} key {i} value {i} h=x" for i, record in enumerate(RECORDS)
    ]


def test_kcat_lists(clients: Clients) -> None:
    topic = make_topic(clients.bootstrap, partitions=3)
    listed = json.loads(kcat(clients, "-L", "-J", "-t", topic))
    (found,) = listed["topics"]
    assert found["topic"] == topic
    assert [each["partition"] for each in found["partitions"]] == [0, 1, 2]
