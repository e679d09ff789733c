"""Whom a quota is for: a user, a client id, both; one of them by name, or all by default.

Names are those of the store's nodes: URL-encoded, so that no name can be taken for `<default>`.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, unquote_plus

DEFAULT = "<default>"
NONE = ""


def sanitize(name: str) -> str:
    """As Java's URLEncoder, but with %20 for a space and %2A for an asterisk."""
    return quote(name, safe="").replace("~", "%7E")


def desanitize(name: str) -> str:
    return unquote_plus(name)


class ClientEntity(NamedTuple):
    """Of limits: what they were set for. Of sensors: whose share is counted together."""

    user: str = NONE
    client: str = NONE


def entity_of(entity_type: str, name: str) -> ClientEntity:
    """Of a node: `users` and `alice/clients/<default>`."""
    if entity_type == "clients":
        return ClientEntity(client=name)
    user, _, client = name.partition("/clients/")
    return ClientEntity(user, client)


class Bounds:
    """The limits of one kind. The most special one holds, in Kafka's order."""

    def __init__(self) -> None:
        self._bounds: dict[ClientEntity, float] = {}

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def __getitem__(self, entity: ClientEntity) -> float:
        return self._bounds[entity]

    def set(self, entity: ClientEntity, bound: float | None) -> None:
        if bound is None:
            self._bounds.pop(entity, None)
        else:
            self._bounds[entity] = bound

    def sharers(self, user: str, client: str) -> ClientEntity:
        """With whom this client shares its limit: all of the user's, or only those of its id."""
        both, of_user = ClientEntity(user, client), ClientEntity(user)
        for candidate, sharers in (
            (both, both),
            (ClientEntity(user, DEFAULT), both),
            (of_user, of_user),
            (ClientEntity(DEFAULT, client), both),
            (ClientEntity(DEFAULT, DEFAULT), both),
            (ClientEntity(DEFAULT), of_user),
        ):
            if candidate in self._bounds:
                return sharers
        return ClientEntity(client=client)

    def source(self, sharers: ClientEntity) -> ClientEntity | None:
        """What their limit was set for; None if they have none."""
        user, client = sharers
        candidates = [ClientEntity(user, client), ClientEntity(user and DEFAULT, client)]
        if client:
            candidates.insert(1, ClientEntity(user, DEFAULT))
            candidates.append(ClientEntity(user and DEFAULT, DEFAULT))
        return next((each for each in candidates if each in self._bounds), None)
