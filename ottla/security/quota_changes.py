"""What may be set for whom, and who matches a question about quotas: Kafka's rules, refusals too.

An entity comes as pairs of type and name; the name None stands for the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from enum import IntEnum
from ipaddress import ip_address
from math import isfinite
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.security.quota_entities import DEFAULT, desanitize, sanitize
from ottla.security.quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    parse,
)

USER, CLIENT_ID, IP = "user", "client-id", "ip"
CONNECTION_CREATION_RATE = "connection_creation_rate"
_WHOLE = (PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE, CONNECTION_CREATION_RATE)
_OF_CLIENTS = (
    PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE, REQUEST_PERCENTAGE, CONTROLLER_MUTATION_RATE,
)  # fmt: skip
_NEARLY = 1e-6
_INT_MAX, _LONG_MAX = 2**31 - 1, 2**63 - 1

Entity = Mapping[str, str | None]
Change = tuple[str, float | None]  # None removes the value


def path_of(entity: Entity) -> str:
    """Of the node in the store, below /config."""
    if not entity:
        raise _invalid("Invalid empty client quota entity")
    for entity_type, name in entity.items():
        if entity_type not in (USER, CLIENT_ID, IP):
            raise _invalid(f"Unhandled client quota entity type: {entity_type}")
        if name == "":
            raise _invalid(f"Empty {entity_type} not supported")
    names = {each: DEFAULT if name is None else sanitize(name) for each, name in entity.items()}
    if IP in entity:
        if len(entity) > 1:
            raise _invalid("an ip has quotas of its own, not together with a user or client id")
        return f"ips/{_address(entity[IP])}"
    if USER not in entity:
        return f"clients/{names[CLIENT_ID]}"
    return f"users/{names[USER]}" + (f"/clients/{names[CLIENT_ID]}" if CLIENT_ID in entity else "")


def _address(name: str | None) -> str:
    if name is None:
        return DEFAULT
    try:
        ip_address(name)
    except ValueError as error:
        raise _invalid(f"{name} is not a valid IP address") from error
    return name


def change(entity: Entity, values: Mapping[str, str], changes: Sequence[Change]) -> dict[str, str]:
    """The values as they are to be stored; others than quotas, as credentials, stay."""
    allowed = (CONNECTION_CREATION_RATE,) if IP in entity else _OF_CLIENTS
    after = dict(values)
    for key, value in changes:
        if value is None:
            after.pop(key, None)
            continue
        if key not in allowed:
            raise _invalid(f"Invalid configuration key {key}; known: {', '.join(allowed)}")
        after[key] = _text(key, value)
    return after


def _text(key: str, value: float) -> str:
    if not isfinite(value):
        raise _invalid(f"{key} is {value}; expected a number")
    if key not in _WHOLE:
        return java_double(value)
    most = _INT_MAX if key == CONNECTION_CREATION_RATE else _LONG_MAX
    if abs(value) > most or abs(int(value + _NEARLY) - value) > _NEARLY:
        raise _invalid(f"{key} is {value}; expected a whole number of at most {most}")
    whole = int(value + _NEARLY)
    if key == CONNECTION_CREATION_RATE and whole < 0:
        raise _invalid(f"{key} is {whole}; expected 0 or more")
    return str(whole)


def java_double(value: float) -> str:
    """As Kafka writes it into the store: 50.0, 1.0E7, 2.5E-4."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    number = Decimal(repr(value)).normalize()
    digits = "".join(map(str, number.as_tuple().digits))
    return f"{'-' * (value < 0)}{digits[0]}.{digits[1:] or '0'}E{number.adjusted()}"


class Match(IntEnum):
    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2  # any name, the default too


class Component(NamedTuple):
    match: Match
    name: str | None = None


class Filter:
    """A question; strict: of entities that have no other parts than those it names."""

    def __init__(self, components: Sequence[tuple[str, int, str | None]], *, strict: bool) -> None:
        self._strict = strict
        self._components: dict[str, Component] = {}
        for entity_type, match, name in components:
            _check_type(entity_type)
            if match not in Match.__members__.values():
                raise _invalid(f"match type {match}; 0 (exact), 1 (default), 2 (any) exist")
            if match == Match.EXACT and name is None:
                raise _invalid(f"an exact match of {entity_type} needs a name")
            if entity_type in self._components:
                raise _invalid(f"Duplicate {entity_type} filter component entity type")
            self._components[entity_type] = Component(Match(match), name)
        if IP in self._components and len(self._components) > 1:
            raise _invalid("an ip is not asked for together with a user or client id")

    def matches(self, entity: Entity) -> bool:
        if IP in self._components and IP not in entity:
            return False
        if IP in entity and (USER in self._components or CLIENT_ID in self._components):
            return False
        types = (IP,) if IP in entity else (USER, CLIENT_ID)
        return all(self._fits(entity_type, entity) for entity_type in types)

    def _fits(self, entity_type: str, entity: Entity) -> bool:
        component = self._components.get(entity_type)
        if component is None:
            return entity_type not in entity or not self._strict
        if entity_type not in entity:
            return False
        if component.match is Match.SPECIFIED:
            return True
        name = component.name if component.match is Match.EXACT else None
        return entity[entity_type] == name


def _check_type(entity_type: str) -> None:
    if entity_type == "":
        raise _invalid("Unexpected empty filter component entity type")
    if entity_type not in (USER, CLIENT_ID, IP):
        detail = f"Custom entity type '{entity_type}' not supported"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, detail)


def entity_at(path: str) -> dict[str, str | None] | None:
    """Whom a node below /config is about; None if quotas are not for such."""
    entity_type, _, name = path.partition("/")
    match entity_type:
        case "ips":
            return {IP: _named(name)}
        case "clients":
            return {CLIENT_ID: _named(name)}
        case "users":
            user, _, client = name.partition("/clients/")
            return {USER: _named(user)} | ({CLIENT_ID: _named(client)} if client else {})
    return None


def _named(name: str) -> str | None:
    return None if name == DEFAULT else desanitize(name)


def quotas_in(entity: Entity, values: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    known = (CONNECTION_CREATION_RATE,) if IP in entity else _OF_CLIENTS
    for key, text in values.items():
        if key in known and (value := parse(text)) is not None:
            yield key, value


def _invalid(detail: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, detail)
