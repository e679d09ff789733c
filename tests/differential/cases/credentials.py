"""DescribeUserScramCredentials, AlterUserScramCredentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.protocol.apis.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.apis.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from tests.differential.case import Case, Step, World, case, step

SHA_256, SHA_512 = 1, 2


class Set(NamedTuple):
    user: str = "alice"
    mechanism: int = SHA_256
    iterations: int = 4096
    salt: bytes = b"salty"
    salted: bytes = b"salted many times"


class Delete(NamedTuple):
    user: str = "alice"
    mechanism: int = SHA_256


def alter(*alterations: Set | Delete) -> Step:
    def build(world: World) -> AlterUserScramCredentialsRequest:
        return AlterUserScramCredentialsRequest(
            deletions=[
                ScramCredentialDeletion(name=_name(world, user), mechanism=mechanism)
                for user, mechanism in (each for each in alterations if isinstance(each, Delete))
            ],
            upsertions=[
                ScramCredentialUpsertion(
                    name=_name(world, each.user),
                    mechanism=each.mechanism,
                    iterations=each.iterations,
                    salt=each.salt,
                    salted_password=each.salted,
                )
                for each in alterations
                if isinstance(each, Set)
            ],
        )

    return step(AlterUserScramCredentialsRequest, 0, build)


def describe(*users: str, everybody: bool = False) -> Step:
    def build(world: World) -> DescribeUserScramCredentialsRequest:
        named = [UserName(name=_name(world, user)) for user in users]
        return DescribeUserScramCredentialsRequest(users=None if everybody else named)

    return step(DescribeUserScramCredentialsRequest, 0, build)


def _name(world: World, user: str) -> str:
    return world.name(user) if user else ""


def _refused(name: str, *alterations: Set | Delete) -> Case:
    """Nothing of it is done."""
    return case(f"scram-{name}", alter(*alterations), describe("alice", "bob"))


_LIMITS: Sequence[int] = (-1, 0, 4095, 4096, 16384, 16385)

CASES: tuple[Case, ...] = (
    case(
        "scram-life",
        describe("alice"),
        alter(Set()),
        describe("alice"),
        alter(Set(mechanism=SHA_512, iterations=8192), Set("bob")),
        describe(everybody=True),
        describe(),
        alter(Set(iterations=5000)),
        describe("alice", "bob", "nobody"),
        alter(Delete()),
        alter(Delete()),
        describe("alice"),
        alter(Delete(mechanism=SHA_512), Delete("bob")),
        describe(everybody=True),
    ),
    case("scram-nothing", alter(), describe("nobody"), describe("")),
    case("scram-described-twice", alter(Set()), describe("alice", "bob", "alice", "bob"),
         describe("", "")),
    case(
        "scram-iterations",
        *(alter(Set(iterations=limit), Set("bob", SHA_512, limit)) for limit in _LIMITS),
        describe("alice", "bob"),
    ),
    _refused("unknown-mechanism", Set(mechanism=0), Delete("bob", 3)),
    _refused("no-name", Set(""), Set("bob")),
    _refused("deleted-without-name", Delete("")),
    _refused("twice", Set(), Set()),
    _refused("set-and-deleted", Set(), Delete()),
    _refused("deleted-twice", Delete(), Delete(), Set("bob")),
    _refused("one-of-two-is-bad", Set(), Set(mechanism=SHA_512, iterations=1), Set("bob")),
    _refused("deletes-what-is-not-there", Set(mechanism=SHA_512), Delete(), Delete("bob")),
    _refused("empty-password", Set(salted=b"")),
    case("scram-empty-salt", alter(Set(salt=b"")), describe("alice")),
    case("scram-mechanism-exchanged", alter(Set()), alter(Delete(), Set(mechanism=SHA_512)),
         describe("alice")),
    case("scram-odd-names", alter(Set("a b"), Set("a/b"), Set("Bäcker"), Set("<default>")),
         describe("a b", "a/b", "Bäcker", "<default>"), describe(everybody=True)),
)  # fmt: skip
