"""Where a client is, as Java writes addresses."""

from __future__ import annotations

import pytest

from ottla.handlers.client_host import client_host


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("127.0.0.1:50123", "/127.0.0.1"),
        ("::1:50123", "/0:0:0:0:0:0:0:1"),
        ("[fe80::a:0b]:1", "/fe80:0:0:0:0:0:a:b"),
        ("fe80::1%eth0:1", "/fe80:0:0:0:0:0:0:1"),
        ("::ffff:10.1.2.3:50123", "/10.1.2.3"),
        ("client-7:1", "/client-7"),
    ],
)
def test_addresses_are_written_as_kafka_stores_them(peer: str, host: str) -> None:
    assert client_host(peer) == host
