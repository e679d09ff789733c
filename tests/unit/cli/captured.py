"""Messages that real clients and brokers sent, without their sizes."""

from __future__ import annotations

# A Java client of 3.9.1 and a broker of 2.0.0, which does not know version 4.
API_VERSIONS_4 = bytes.fromhex(
    "00120004000000000010636f6e736f6c652d70726f64756365720012617061636865"
    "2d6b61666b612d6a61766106332e392e3100"
)
API_VERSIONS_REFUSED = bytes.fromhex("00000000002300000000")

# librdkafka and a broker of 3.9.1.
FIND_COORDINATOR_2 = bytes.fromhex("000a000200000003000672642d74786e000572642d747801")
COORDINATOR_FOUND_2 = bytes.fromhex(
    "0000000300000000000000044e4f4e450000000000093132372e302e302e310000c028"
)

# kafka-python and a broker of 3.9.1.
FIND_COORDINATOR_6 = bytes.fromhex("000a00060000000200066b702d74786e000102066b702d747800")
COORDINATOR_FOUND_6 = bytes.fromhex(
    "00000002000000000002066b702d7478000000010a3132372e302e302e310000c0290000010000"
)


def framed(*messages: bytes) -> bytes:
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)
