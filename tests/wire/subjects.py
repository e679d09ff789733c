"""Every declared message in every version: what the wire tests are parametrized by."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from ottla.protocol import internal
from ottla.protocol.headers import RequestHeader, ResponseHeader
from ottla.protocol.registry import API_NAMES, request_type, response_type
from ottla.protocol.schema import Message


class Subject(NamedTuple):
    """A message class in one version."""

    cls: type[Message]
    version: int

    def __str__(self) -> str:
        return f"{self.cls.__name__} v{self.version}"


def message_types() -> list[type[Message]]:
    apis = [cls for key in API_NAMES for cls in (request_type(key), response_type(key))]
    return [RequestHeader, ResponseHeader, *apis, *_internal_types()]


def _internal_types() -> Iterator[type[Message]]:
    for found in pkgutil.iter_modules(internal.__path__, internal.__name__ + "."):
        module = import_module(found.name)
        for value in vars(module).values():
            is_message = isinstance(value, type) and issubclass(value, Message)
            if is_message and value.__module__ == found.name:
                yield value


ALL = [Subject(cls, v) for cls in message_types() for v in range(cls.oldest, cls.newest + 1)]
NEWEST = [Subject(cls, cls.newest) for cls in message_types()]
