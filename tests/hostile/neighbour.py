"""A good client beside the bad ones: what it writes it reads, in order, and always at once."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from ottla.protocol.apis.fetch import FetchResponse
from ottla.protocol.errors import ErrorCode
from tests.hostile.client import (
    FETCH_VERSION,
    Client,
    batch_of,
    create_topics,
    fetch_request,
    fetched,
    produce,
)


class Neighbour:
    """Produces and fetches in a thread until the block ends; then says how it went."""

    def __init__(self, address: tuple[str, int], topic: str = "neighbours") -> None:
        self.rounds = 0
        self.slowest_s = 0.0
        self._address = address
        self._topic = topic
        self._begun = threading.Event()
        self._ends = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="neighbour")

    def __enter__(self) -> Neighbour:
        """Returns once it has been served, so that it is there when the bad ones come."""
        self._thread.start()
        self._begun.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        before = self.rounds
        self._ends.set()
        self._thread.join()
        if self._error is not None:
            raise AssertionError("the neighbour noticed something") from self._error
        # The last round begins and ends among the bad ones, or after them: it is always served.
        assert self.rounds > before

    def _run(self) -> None:
        try:
            with Client(self._address) as client:
                assert create_topics(client, [self._topic]) == [ErrorCode.NONE]
                self._round(client)
                self._begun.set()
                over = False
                while not over:
                    over = self._ends.is_set()  # one round more: a short block has one, too
                    begins = time.perf_counter()
                    self._round(client)
                    self.slowest_s = max(self.slowest_s, time.perf_counter() - begins)
        except BaseException as error:
            self._error = error
        finally:
            self._begun.set()

    def _round(self, client: Client) -> None:
        value = b"round %d " % self.rounds
        answer = produce(client, self._topic, batch_of(value, value * 20), acks=-1)
        assert answer.error_code == ErrorCode.NONE, answer
        assert answer.base_offset == 2 * self.rounds
        request = fetch_request(self._topic, answer.base_offset, max_wait_ms=1000)
        found = fetched(client.ask(request, FETCH_VERSION, FetchResponse))
        first = answer.base_offset
        assert found == [(first, value), (first + 1, value * 20)]
        self.rounds += 1
