"""One file per API; `HANDLERS` is the one list of what a broker serves."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any, NamedTuple

from ottla.protocol.registry import API_NAMES, module_name, request_type
from ottla.protocol.schema import Message

# What a ZooKeeper-mode Kafka 3.9 serves of each API, as far as it works here.
HANDLERS: dict[int, tuple[int, int]] = {
    0: (0, 11),
    1: (0, 17),
    2: (0, 9),
    3: (0, 12),
    4: (0, 7),
    5: (0, 4),
    6: (0, 8),
    7: (0, 3),
    8: (0, 9),
    9: (0, 9),
    10: (0, 6),
    11: (0, 9),
    12: (0, 4),
    13: (0, 5),
    14: (0, 5),
    15: (0, 5),
    16: (0, 5),
    17: (0, 1),
    18: (0, 4),
    19: (0, 7),
    20: (0, 6),
    21: (0, 2),
    22: (0, 5),
    23: (0, 4),
    24: (0, 5),
    25: (0, 4),
    26: (0, 4),
    27: (0, 1),
    28: (0, 4),
    29: (0, 3),
    30: (0, 3),
    31: (0, 3),
    32: (0, 4),
    33: (0, 2),
    34: (0, 2),
    35: (0, 4),
    36: (0, 2),
    37: (0, 3),
    38: (0, 3),
    39: (0, 2),
    40: (0, 2),
    41: (0, 3),
    42: (0, 2),
    43: (0, 2),
    44: (0, 1),
    45: (0, 0),
    46: (0, 0),
    47: (0, 0),
    48: (0, 1),
    49: (0, 1),
    50: (0, 0),
    51: (0, 0),
    57: (0, 1),
    60: (0, 1),
    61: (0, 0),
    65: (0, 0),
    66: (0, 1),
    67: (0, 0),
}


class Handler(NamedTuple):
    """The functions of one API's file, and the request they take."""

    name: str
    request: type[Message]
    handle: Any
    refuse: Any
    is_async: bool
    read: Any = None  # a shorter way to read some requests, which returns None for the others
    shortcut: Any = None  # for the requests of a connection that look like the one before


@cache
def handler(key: int) -> Handler:
    """Loads the API's file the first time somebody asks for it."""
    name = API_NAMES[key]
    module = import_module(f"ottla.handlers.{module_name(name)}")
    handle = getattr(module, f"handle_{module_name(name)}")
    return Handler(
        name,
        request_type(key),
        handle,
        module.refuse,
        iscoroutinefunction(handle),
        getattr(module, "read_request", None),
        getattr(module, "request_shortcut", None),
    )
