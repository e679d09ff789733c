"""How a broker says where it is: the node below /brokers/ids (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ottla.store.fields import Fields, encode_json

_ENDPOINT = re.compile(r"(?P<listener>.*)://\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>-?[0-9]+)")


@dataclass(frozen=True, slots=True)
class Endpoint:
    listener: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """Version 5 has features (KIP-584), which come with inter-broker protocol 2.7."""

    endpoints: tuple[Endpoint, ...]
    security_protocols: Mapping[str, str]  # by listener
    timestamp_ms: int
    rack: str | None = None
    jmx_port: int = -1
    features: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    version: int = 5

    def encode(self) -> bytes:
        plain = next((e for e in self.endpoints if self._is_plaintext(e)), None)
        values: dict[str, object] = {
            "listener_security_protocol_map": self.security_protocols,
            "endpoints": [str(endpoint) for endpoint in self.endpoints],
        }
        if self.rack is not None:
            values["rack"] = self.rack
        values["jmx_port"] = self.jmx_port
        # For clients older than listeners.
        host, port = (plain.host or None, plain.port) if plain else (None, -1)
        timestamp = str(self.timestamp_ms)
        # The orders are those of two Scala versions, by hash; they mean nothing.
        if self.version == 4:
            values |= {"host": host, "timestamp": timestamp, "port": port, "version": 4}
            return encode_json(values)
        values |= {"port": port, "host": host, "version": self.version, "timestamp": timestamp}
        return encode_json({"features": self.features, **values})

    @classmethod
    def decode(cls, data: bytes, path: str) -> BrokerRegistration:
        fields = Fields(data, path)
        return cls(
            version=fields.version(oldest=4, newest=5),
            endpoints=tuple(_endpoint(fields, text) for text in fields.texts("endpoints")),
            security_protocols=fields.texts_by_name("listener_security_protocol_map"),
            timestamp_ms=fields.number_in_text("timestamp"),
            rack=fields.optional_text("rack"),
            jmx_port=fields.number("jmx_port", -1),
            features=fields.levels("features"),
        )

    def _is_plaintext(self, endpoint: Endpoint) -> bool:
        return self.security_protocols.get(endpoint.listener) == "PLAINTEXT"


def _endpoint(fields: Fields, text: str) -> Endpoint:
    match = _ENDPOINT.fullmatch(text)
    if match is None:
        raise fields.malformed(f"the endpoint {text!r}, which is not like PLAINTEXT://host:9092,")
    return Endpoint(match["listener"], match["host"], int(match["port"]))
