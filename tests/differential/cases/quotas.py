"""DescribeClientQuotas, AlterClientQuotas. Each case leaves nothing behind: all see everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ottla.protocol.apis.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.apis.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from tests.differential.case import Case, Step, case, step

NEWEST = 1
EXACT, DEFAULT, ANY = 0, 1, 2
KEYS = (
    "producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
)  # fmt: skip
Entity = Mapping[str, str | None]
Component = tuple[str, int, str | None]


def alter(entity: Entity, *removed: str, **values: float) -> Step:
    """Sets the values, and removes what is named."""
    return altering([_entry(list(entity.items()), *removed, **values)])


def altering(entries: list[EntryData], *, validate_only: bool = False) -> Step:
    request = AlterClientQuotasRequest(entries=entries, validate_only=validate_only)
    return step(AlterClientQuotasRequest, NEWEST, lambda _: request)


def _entry(entity: list[tuple[str, str | None]], *removed: str, **values: float) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[OpData(key=key, value=value, remove=False) for key, value in values.items()]
        + [OpData(key=key, value=0.0, remove=True) for key in removed],
    )


def of(entity: Entity, *removed: str, **values: float) -> EntryData:
    return _entry(list(entity.items()), *removed, **values)


def oldest(newest: Step) -> Step:
    return replace(newest, version=0)


def describe(*components: Component, strict: bool = False) -> Step:
    request = DescribeClientQuotasRequest(
        components=[
            ComponentData(entity_type=kind, match_type=match, match=name)
            for kind, match, name in components
        ],
        strict=strict,
    )
    return step(DescribeClientQuotasRequest, NEWEST, lambda _: request)


def clear(*entities: Entity) -> Step:
    keys = {True: ("connection_creation_rate",), False: KEYS}
    return altering([of(each, *keys["ip" in each]) for each in entities])


ALICE, BOB = {"user": "alice"}, {"user": "bob"}
ALL_USERS: Entity = {"user": None}
READER, ALL_CLIENTS = {"client-id": "reader"}, {"client-id": None}
ALICE_READER = {"user": "alice", "client-id": "reader"}
ALICE_ALL: Entity = {"user": "alice", "client-id": None}
ALL_READER: Entity = {"user": None, "client-id": "reader"}
ALL_ALL: Entity = {"user": None, "client-id": None}
ADDRESS, ALL_ADDRESSES = {"ip": "10.9.8.7"}, {"ip": None}
EVERYBODY: tuple[Entity, ...] = (
    ALICE, BOB, ALL_USERS, READER, ALL_CLIENTS, ALICE_READER, ALICE_ALL, ALL_READER, ALL_ALL,
)  # fmt: skip
PLENTY = 1e9
SET_ALL = altering(
    [
        *(of(each, producer_byte_rate=PLENTY + n) for n, each in enumerate(EVERYBODY)),
        of(ADDRESS, connection_creation_rate=5000),
        of(ALL_ADDRESSES, connection_creation_rate=6000),
    ]
)
CLEAR_ALL = clear(*EVERYBODY, ADDRESS, ALL_ADDRESSES)


def question(name: str, *components: Component, strict: bool = False) -> Case:
    asked = describe(*components, strict=strict)
    return case(f"quotas-describe-{name}", SET_ALL, asked, CLEAR_ALL)


def refusal(name: str, entity: Entity, **values: float) -> Case:
    """And nothing of it is kept."""
    return case(f"quotas-alter-{name}", alter(entity, **values), describe())


CASES = (
    case("quotas-none", describe(), describe(strict=True), oldest(describe())),
    case(
        "quotas-oldest-version",
        oldest(alter(ALICE, producer_byte_rate=PLENTY, request_percentage=12.5)),
        oldest(describe(("user", EXACT, "alice"))),
        oldest(alter(ALICE, *KEYS)),
        oldest(describe()),
    ),
    case(
        "quotas-of-every-kind",
        alter(ALICE, **dict.fromkeys(KEYS, PLENTY)),
        describe(),
        alter(ALICE, "consumer_byte_rate", request_percentage=0.001, producer_byte_rate=2e9),
        describe(),
        clear(ALICE),
        describe(),
    ),
    case(
        "quotas-validate-only",
        altering([of(ALICE, producer_byte_rate=PLENTY)], validate_only=True),
        altering([of(ALICE, nonsense=1)], validate_only=True),
        describe(),
    ),
    case(
        "quotas-odd-names",
        alter({"user": "CN=A B,O=*/~+%é"}, producer_byte_rate=PLENTY),
        alter({"user": "<default>", "client-id": "a/b c"}, producer_byte_rate=PLENTY),
        describe(),
        describe(("user", EXACT, "CN=A B,O=*/~+%é"), strict=True),
        clear({"user": "CN=A B,O=*/~+%é"}, {"user": "<default>", "client-id": "a/b c"}),
    ),
    case(
        "quotas-one-of-two-refused",
        altering([of(ALICE, producer_byte_rate=PLENTY), of(BOB, nonsense=1)]),
        describe(),
        clear(ALICE),
    ),
    case(
        "quotas-one-entity-twice",
        altering(
            [of(ALICE, producer_byte_rate=PLENTY), of(ALICE, consumer_byte_rate=PLENTY)]
        ),
        describe(),
        clear(ALICE),
    ),
    case("quotas-remove-what-is-not-there", alter(BOB, "producer_byte_rate", "nonsense")),
    case("quotas-nothing-to-do", alter(BOB), describe()),
    case(
        "quotas-set-and-remove", alter(BOB, "producer_byte_rate", producer_byte_rate=5), describe()
    ),
    case("quotas-zero", alter(BOB, producer_byte_rate=0), describe(), clear(BOB)),
    case("quotas-negative", alter(BOB, producer_byte_rate=-1), describe(), clear(BOB)),
    case("quotas-nearly-whole", alter(BOB, producer_byte_rate=4.9999999), describe(), clear(BOB)),
    question("all"),
    question("all-strictly", strict=True),
    question("a-user", ("user", EXACT, "alice")),
    question("a-user-strictly", ("user", EXACT, "alice"), strict=True),
    question("a-client", ("client-id", EXACT, "reader")),
    question("a-client-strictly", ("client-id", EXACT, "reader"), strict=True),
    question("both", ("user", EXACT, "alice"), ("client-id", EXACT, "reader")),
    question(
        "both-strictly", ("client-id", EXACT, "reader"), ("user", EXACT, "alice"), strict=True
    ),
    question("the-default-user", ("user", DEFAULT, None)),
    question("the-default-user-strictly", ("user", DEFAULT, None), strict=True),
    question("the-default-client-strictly", ("client-id", DEFAULT, None), strict=True),
    question("both-defaults", ("user", DEFAULT, None), ("client-id", DEFAULT, None), strict=True),
    question("any-user", ("user", ANY, None)),
    question("any-user-strictly", ("user", ANY, None), strict=True),
    question("any-client-of-a-user", ("user", EXACT, "alice"), ("client-id", ANY, None)),
    question("any-of-both", ("user", ANY, None), ("client-id", ANY, None), strict=True),
    question("nobody", ("user", EXACT, "nobody")),
    question("an-address", ("ip", EXACT, "10.9.8.7")),
    question("an-address-strictly", ("ip", EXACT, "10.9.8.7"), strict=True),
    question("the-default-address", ("ip", DEFAULT, None)),
    question("any-address", ("ip", ANY, None), strict=True),
    question("default-with-a-name", ("user", DEFAULT, "alice")),
    question("exact-without-a-name", ("user", EXACT, None)),
    question("the-name-of-the-default", ("user", EXACT, "<default>")),
    case("quotas-describe-address-and-user", describe(("ip", ANY, None), ("user", ANY, None))),
    case("quotas-describe-twice", describe(("user", ANY, None), ("user", EXACT, "alice"))),
    case("quotas-describe-empty-type", describe(("", ANY, None))),
    case("quotas-describe-unknown-type", describe(("group", ANY, None))),
    case("quotas-describe-unknown-match", describe(("user", 3, None))),
    refusal("nobody", {}),
    refusal("empty-user", {"user": ""}, producer_byte_rate=5),
    refusal("empty-address", {"ip": ""}, connection_creation_rate=5),
    refusal("unknown-type", {"group": "g"}, producer_byte_rate=5),
    refusal("address-and-user", {"ip": "10.0.0.1", "user": "u"}, producer_byte_rate=5),
    refusal("address-with-a-users-key", ADDRESS, producer_byte_rate=5),
    refusal("user-with-an-addresss-key", ALICE, connection_creation_rate=5),
    refusal("no-address", {"ip": "256.1.1.1"}, connection_creation_rate=5),
    refusal("unknown-key", ALICE, retention_ms=5),
    refusal("empty-key", ALICE, **{"": 5}),
    refusal("fraction-of-a-byte", ALICE, producer_byte_rate=5.5),
    refusal("fraction-of-a-connection", ADDRESS, connection_creation_rate=0.5),
    refusal("negative-connections", ADDRESS, connection_creation_rate=-1),
    case(
        "quotas-alter-type-twice",
        altering([_entry([("user", "a1"), ("user", "a2")], nonsense=1)]),
        describe(),
    ),
    refusal("scram-as-quota", ALICE, **{"SCRAM-SHA-256": 1}),
)  # fmt: skip
