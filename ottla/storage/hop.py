"""From the loop to a file thread and back: what waits for the disk, and what follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future

from ottla.storage.threads import Background


class Hop:
    """`then` runs on the loop with the work's exception, or None."""

    def __init__(
        self, background: Background, call_soon: Callable[[Callable[[], None]], object]
    ) -> None:
        self._background = background
        self._call_soon = call_soon  # safe to call from any thread
        self._running: dict[Future[object], None] = {}

    def run(self, work: Callable[[], object], then: Callable[[BaseException | None], None]) -> None:
        def on_loop() -> None:
            del self._running[future]
            then(future.exception())

        future = self._background.submit(work)
        self._running[future] = None
        future.add_done_callback(lambda _: self._call_soon(on_loop))

    async def wait(self, work: Callable[[], object]) -> None:
        """The same for those who can await it; raises what the work raised."""
        answer = asyncio.get_running_loop().create_future()

        def then(error: BaseException | None) -> None:
            if answer.done():
                return  # whoever waited has gone away
            if error is None:
                answer.set_result(None)
            else:
                answer.set_exception(error)

        self.run(work, then)
        await answer

    async def rest(self) -> None:
        """Until all that runs now is done, and whoever waits for it has heard."""
        # Their callbacks come after ours, which were there first.
        running = [asyncio.wrap_future(future) for future in self._running]
        for each in running:
            await asyncio.wait([each])
            each.exception()  # `then` has heard of it
