"""Who is connected to a broker of our own, as its page for people who debug tells it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest

from ottla.protocol.apis.api_versions import ApiVersionsRequest
from ottla.protocol.framing import encode_request

_PATIENCE_S = 60


@pytest.fixture(scope="module")
def broker() -> Iterator[dict[str, str]]:
    command = [sys.executable, "-m", "ottla", "up", "--ephemeral", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as broker:
        try:
            assert broker.stdout is not None
            yield json.loads(broker.stdout.readline())
        finally:
            broker.terminate()
            broker.wait(_PATIENCE_S)


def introduce(client: socket.socket, *, name: str, version: str, api_version: int) -> None:
    """Returns when it is answered."""
    request = ApiVersionsRequest(client_software_name=name, client_software_version=version)
    client.sendall(encode_request(request, api_version, correlation_id=1, client_id="billing"))
    with client.makefile("rb") as answers:
        size = int.from_bytes(answers.read(4), "big")
        assert len(answers.read(size)) == size


def only_connection(broker: dict[str, str]) -> dict[str, Any]:
    with urlopen(f"{broker['http']}/debug/connections", timeout=_PATIENCE_S) as answer:
        (found,) = json.loads(answer.read())["connections"]
    assert isinstance(found, dict)
    return found


def test_a_client_is_shown_with_the_software_that_it_names(broker: dict[str, str]) -> None:
    host, _, port = broker["bootstrap"].rpartition(":")
    with socket.create_connection((host, int(port)), timeout=_PATIENCE_S) as client:
        introduce(client, name="ignored", version="0", api_version=2)
        found = only_connection(broker)
        assert (found["client_software_name"], found["client_software_version"]) == ("", "")
        introduce(client, name="apache-kafka-java", version="3.9.1", api_version=3)
        found = only_connection(broker)
        own_port = client.getsockname()[1]
    assert found["client_software_name"] == "apache-kafka-java"
    assert found["client_software_version"] == "3.9.1"
    assert (found["client_id"], found["requests"]) == ("billing", 2)
    assert (found["peer"], found["listener"]) == (f"127.0.0.1:{own_port}", "PLAINTEXT")
