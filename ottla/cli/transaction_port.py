"""What Ottla's brokers tell of open transactions on their HTTP ports, and Kafka's cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ottla.admin.cluster import TopicPartition
from ottla.cli.http_port import fetch_document
from ottla.cli.transaction_words import Entry

Urls = Annotated[
    list[str] | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="The HTTP port of an Ottla broker, as it prints it when it starts: tells which client "
        "wrote, and which consumers wait. Repeat it for several brokers.",
        show_default=False,
    ),
]


def ask_brokers(urls: Sequence[str]) -> dict[TopicPartition, Entry]:
    """By the partition that each of them leads."""
    found: dict[TopicPartition, Entry] = {}
    for url in urls:
        document = fetch_document(url, "/debug/transactions", "partitions")
        for each in document["partitions"]:
            found[TopicPartition(each["topic"], each["partition"])] = each
    return found
