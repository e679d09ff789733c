"""Where a task outlives a bug: the stack is logged once, and whoever waits goes on without it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable

_logger = logging.getLogger(__name__)


async def survived(
    work: Awaitable[None], name: str, *, known: tuple[type[Exception], ...] = ()
) -> bool:
    """Whether it was done. Faults that are `known` to the caller are the caller's."""
    try:
        await work
    except known:
        raise
    except Exception:
        _logger.exception("%s failed", name)
        return False
    return True
