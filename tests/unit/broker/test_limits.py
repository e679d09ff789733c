"""What an operator asks for is what the sockets get; what nobody asks for is ours to choose."""

from __future__ import annotations

import pytest

from ottla.broker.host_limits import HostLimits
from ottla.broker.limits import limits_of
from ottla.config.broker_config import BrokerConfig


async def nobody(host: str) -> list[str]:
    raise OSError(f"{host} is no address")


HOSTS = HostLimits(nobody)


@pytest.mark.parametrize(
    ("properties", "send", "receive"),
    [
        ({}, 192 * 1024, -1),
        ({"socket.send.buffer.bytes": "102400"}, 102_400, -1),
        ({"socket.send.buffer.bytes": "-1"}, -1, -1),
        ({"socket.receive.buffer.bytes": "50000"}, 192 * 1024, 50_000),
    ],
)
def test_a_buffer_has_the_size_that_was_asked_for(
    properties: dict[str, str], send: int, receive: int
) -> None:
    limits = limits_of(BrokerConfig(properties), HOSTS)
    assert (limits.send_buffer_bytes, limits.receive_buffer_bytes) == (send, receive)


@pytest.mark.parametrize("loopback", ["::1", "0:0:0:0:0:0:0:1", "[::1]"])
def test_a_host_may_have_a_limit_of_its_own(loopback: str) -> None:
    text = f"10.0.0.1:7, {loopback}:9, ::ffff:10.0.0.2:3"
    limits = limits_of(BrokerConfig({"max.connections.per.ip.overrides": text}), HOSTS)
    assert limits.per_ip_overrides == {"10.0.0.1": 7, "::1": 9, "10.0.0.2": 3}
