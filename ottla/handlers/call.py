"""One request being served: where its answer goes."""

from __future__ import annotations

from collections.abc import Callable

from ottla.handlers.services import Services
from ottla.network.connection import Connection
from ottla.network.pieces import FilePiece, Piece
from ottla.protocol.error_codes import errors_in
from ottla.protocol.framing import encode_response_pieces
from ottla.protocol.schema import Message


class Call:
    """What a handler gets besides the request. `reply` is for those that answer later."""

    __slots__ = (
        "api_key", "begun_ns", "client_id", "connection", "correlation_id", "is_follower",
        "is_timed", "parked_ns", "pieces", "services", "version",
    )  # fmt: skip

    def __init__(
        self,
        connection: Connection,
        services: Services,
        *,
        api_key: int,
        version: int,
        correlation_id: int,
        client_id: str | None,
    ) -> None:
        self.connection = connection
        self.services = services
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.pieces: list[Piece] | None = None
        self.is_follower = False  # another broker's fetch
        self.is_timed = False  # for the metrics
        self.begun_ns = -1
        self.parked_ns = -1  # it has not waited for anything

    @property
    def listener(self) -> str:
        return self.connection.listener

    def is_limited(self) -> bool:
        """Whether the client's produces are, and have to come one after the other."""
        return False

    def mutation_quota(self, *, strict_from: int | None) -> Callable[[int], None]:
        """What to tell how many partitions are to change; it may refuse.

        From that version on clients know the refusal. None: they did not even ask for a change.
        """
        return _nothing_spent

    def throttle(self, response: Message) -> None:
        """For those who encode their answer themselves, before they do it."""

    def park(self) -> None:
        """Others have to do something before it is answered."""
        if self.is_timed and self.parked_ns < 0:
            self.parked_ns = self.services.timer.now_ns()

    def reply(self, response: Message, *, may_hold_errors: bool = True) -> None:
        if may_hold_errors:
            self.services.requests.count_errors(self.api_key, errors_in(response))
        # What lies elsewhere are the ranges of files that a fetch found.
        pieces: list[Piece] = encode_response_pieces(  # type: ignore[assignment]
            response, self.version, correlation_id=self.correlation_id
        )
        self.reply_with(pieces)

    def reply_with(self, pieces: list[Piece]) -> None:
        """The answer as it goes over the wire; of no pieces, if there is none (acks=0)."""
        assert self.pieces is None, "answered twice"
        if self.connection.is_closed:
            for piece in pieces:
                if isinstance(piece, FilePiece):
                    piece.release()
            return
        self.pieces = pieces
        if self.is_timed:
            services = self.services
            services.requests.times(self.api_key, is_follower=self.is_follower).answered(
                begun_ns=self.begun_ns, parked_ns=self.parked_ns, now_ns=services.timer.now_ns()
            )
        self.connection.settle()


class OwnCall(Call):
    """A request of this broker to itself: whoever sent it is told, and nothing is encoded."""

    __slots__ = ("to",)

    to: Callable[[Message], None]

    def reply(self, response: Message, *, may_hold_errors: bool = True) -> None:
        self.to(response)


def _nothing_spent(_count: int) -> None:
    """Without quotas."""
