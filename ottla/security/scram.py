"""SCRAM credentials (RFC 5802): how they are made, and how Kafka keeps them in the store (pure).

A client sends the password salted and hashed many times over. What is kept of it lets a server
verify a client and prove itself to it, and lets nobody who steals it log in.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from enum import Enum
from hashlib import new as new_hash

_STORED = re.compile(r"salt=(.*),stored_key=(.+),server_key=(.+),iterations=([0-9]+)")


class ScramMechanism(Enum):
    """Its number in requests, its name in the store and in SASL, its hash, fewest iterations."""

    SHA_256 = (1, "SCRAM-SHA-256", "sha256", 4096)
    SHA_512 = (2, "SCRAM-SHA-512", "sha512", 4096)

    def __init__(
        self, number: int, mechanism_name: str, hash_name: str, fewest_iterations: int
    ) -> None:
        self.number = number
        self.mechanism_name = mechanism_name
        self.hash_name = hash_name
        self.fewest_iterations = fewest_iterations


MECHANISMS = {mechanism.number: mechanism for mechanism in ScramMechanism}
MOST_ITERATIONS = 16384  # a client must do as many at each login


@dataclass(frozen=True, slots=True)
class ScramCredential:
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def encode(self) -> str:
        return (
            f"salt={_text(self.salt)},stored_key={_text(self.stored_key)},"
            f"server_key={_text(self.server_key)},iterations={self.iterations}"
        )

    @classmethod
    def decode(cls, text: str) -> ScramCredential:
        """ValueError if nobody can have written that; the text is not told, it is a secret."""
        found = _STORED.fullmatch(text)
        if found is None:
            raise ValueError("not salt=,stored_key=,server_key=,iterations=, in this order")
        salt, stored_key, server_key = (
            b64decode(part, validate=True) for part in found.groups()[:3]
        )
        return cls(salt, stored_key, server_key, int(found[4]))


def credential(
    mechanism: ScramMechanism, *, salt: bytes, salted_password: bytes, iterations: int
) -> ScramCredential:
    client_key = hmac.digest(salted_password, b"Client Key", mechanism.hash_name)
    return ScramCredential(
        salt=salt,
        stored_key=new_hash(mechanism.hash_name, client_key).digest(),
        server_key=hmac.digest(salted_password, b"Server Key", mechanism.hash_name),
        iterations=iterations,
    )


def _text(data: bytes) -> str:
    return b64encode(data).decode()
