"""Long work in short pieces: the loop serves its clients between one and the next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

from ottla.controller.lists import chunks

T = TypeVar("T")

# Of things that take about 20 microseconds each, so that a piece takes less than 5 ms.
PIECE = 200


async def in_slices(items: Iterable[T]) -> AsyncIterator[T]:
    for piece in chunks(items, PIECE):
        for item in piece:
            yield item
        if len(piece) == PIECE:
            await asyncio.sleep(0)
