"""Addresses as people write them."""

from __future__ import annotations

import pytest

from ottla.admin.addresses import BadAddress, parse_bootstrap


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("localhost", [("localhost", 9092)]),
        ("kafka-1:9093, kafka-2:9094,", [("kafka-1", 9093), ("kafka-2", 9094)]),
        ("[::1]:19092", [("::1", 19092)]),
        ("[fe80::2]", [("fe80::2", 9092)]),
    ],
)
def test_a_list_of_addresses_is_taken_apart(text: str, addresses: list[tuple[str, int]]) -> None:
    assert parse_bootstrap(text) == addresses


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no address is given"),
        (" , ", "no address is given"),
        ("host:http", "'host:http': the port must be a number"),
        ("host:0", "from 1 to 65535"),
        ("host:70000", "from 1 to 65535"),
        (":9092", "names no host"),
        ("http://host", "names no host|number"),
        ("::1:9092", "several colons"),
    ],
)
def test_what_is_no_address_is_told_why(text: str, why: str) -> None:
    with pytest.raises(BadAddress, match=why):
        parse_bootstrap(text)
