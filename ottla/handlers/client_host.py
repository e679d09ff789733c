"""Where a client is, in the words that Kafka keeps in its groups."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address


@lru_cache(maxsize=1024)
def client_host(peer: str) -> str:
    """`127.0.0.1:9` is `/127.0.0.1`, `::1:9` is `/0:0:0:0:0:0:0:1`: Java writes them so."""
    host = peer.rpartition(":")[0].strip("[]").partition("%")[0]
    try:
        address = ip_address(host)
    except ValueError:
        return f"/{host}"  # a name, as the simulated network has them
    if not isinstance(address, IPv6Address):
        return f"/{address}"
    if address.ipv4_mapped is not None:
        return f"/{address.ipv4_mapped}"
    groups = address.exploded.split(":")
    return "/" + ":".join(group.lstrip("0") or "0" for group in groups)
