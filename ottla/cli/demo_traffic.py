"""Page views as a shop's visitors might make them, with now and then a record that is wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

_PAGES = ("/shop/bread", "/shop/cake", "/shop/tea", "/blog/sourdough", "/help/opening-hours")
_WEIGHTS = (30, 22, 12, 9, 4)
_COUNTRIES = ("CZ", "DE", "AT", "FR", "PL")
_ONE_IN = 40  # is wrong in one of the ways below


class View(NamedTuple):
    key: bytes
    value: bytes


class Traffic:
    """The same for the same seed, but for the time."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._count = 0

    def next(self, now_ms: int) -> View:
        self._count += 1
        page = self._random.choices(_PAGES, _WEIGHTS)[0]
        view = {
            "event_id": f"view-{self._count}",
            "page": page,
            "country": self._random.choice(_COUNTRIES),
            "seconds": round(self._random.expovariate(1 / 40), 1),
            "at": datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(),
        }
        value = json.dumps(view).encode()
        if self._random.randrange(_ONE_IN) == 0:
            value = self._spoilt(view, value)
        return View(page.encode(), value)

    def _spoilt(self, view: dict[str, object], value: bytes) -> bytes:
        match self._random.randrange(4):
            case 0:
                return value[: len(value) // 2]  # cut off
            case 1:
                return json.dumps(view | {"seconds": "a while"}).encode()
            case 2:
                return json.dumps(view | {"country": None}).encode()
            case _:
                return b"\xff\xfe poison"
