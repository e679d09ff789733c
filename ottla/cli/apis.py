"""The APIs as a list for people and programs: keys, versions, and what each is for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from ottla.protocol.registry import (
    API_NAMES,
    request_header_version,
    request_type,
    response_header_version,
)


@dataclass(frozen=True, slots=True)
class Api:
    key: int
    name: str
    oldest: int
    newest: int
    flexible_from: int | None
    meaning: str

    @property
    def versions(self) -> str:
        return version_range(self.oldest, self.newest)

    def to_json(self) -> dict[str, object]:
        versions = range(self.oldest, self.newest + 1)
        return {
            "key": self.key,
            "name": self.name,
            "oldest": self.oldest,
            "newest": self.newest,
            "flexible_from": self.flexible_from,
            "request_header_versions": [request_header_version(self.key, v) for v in versions],
            "response_header_versions": [response_header_version(self.key, v) for v in versions],
            "meaning": self.meaning,
        }


@cache
def all_apis() -> tuple[Api, ...]:
    return tuple(_api(key, name) for key, name in API_NAMES.items())


def matching_apis(word: str) -> list[Api]:
    """The API with this key, or those with the word in their name."""
    if word.isdecimal():
        return [api for api in all_apis() if api.key == int(word)]
    return [api for api in all_apis() if word.lower() in api.name.lower()]


def find_api(word: str) -> Api | None:
    """The API with this key or this whole name; upper and lower case are alike."""
    return next((api for api in matching_apis(word) if word.lower() in _spellings(api)), None)


def unknown_api(word: str) -> str:
    """What to tell somebody who named an API that there is none of."""
    if word.isdecimal():
        return f"no API has the key {word}; the keys are 0 to {max(API_NAMES)}."
    names = {name.lower(): name for name in API_NAMES.values()}
    partial = [name for name in names.values() if word.lower() in name.lower()]
    near = get_close_matches(word.lower(), names, n=3) if not partial else []
    nearest = (partial or [names[match] for match in near])[:3]
    hint = (
        f"Did you mean {' or '.join(nearest)}?" if nearest else "`ottla protocol apis` lists all."
    )
    return f"no API is called {word!r}. {hint}"


def version_range(oldest: int, newest: int) -> str:
    return f"{oldest}-{newest}" if oldest != newest else str(oldest)


def _api(key: int, name: str) -> Api:
    request = request_type(key)
    # "Heartbeat (12): a member says that it is alive, and hears when to rejoin."
    opening = (sys.modules[request.__module__].__doc__ or "").partition("\n")[0]
    meaning = opening.partition(": ")[2]
    return Api(key, name, request.oldest, request.newest, request.flexible_from, meaning)


def _spellings(api: Api) -> tuple[str, str]:
    return str(api.key), api.name.lower()
