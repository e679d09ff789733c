"""What a hostile client does with one connection. Each must end: closed, or answered."""

from __future__ import annotations

import random
import socket
import struct

from ottla.handlers import HANDLERS
from ottla.protocol.apis.api_versions import ApiVersionsRequest
from ottla.protocol.framing import encode_request
from ottla.protocol.records.compression import Codec
from tests.hostile.batches import bomb
from tests.hostile.client import PRODUCE_VERSION, Client, Gone, batch_of, produce_request
from tests.hostile.requests import OF_CLIENTS, TOPICS, any_frame, is_fair, may_park, spoil

Address = tuple[str, int]
PROBE_ID = 0x7A11_7A11
PROBE = encode_request(ApiVersionsRequest(), 0, correlation_id=PROBE_ID, client_id=None)
_MOST_ANSWERS = 10


def expect_an_end(client: Client) -> None:
    """Half closed by us, it is closed by the broker, whatever it still sends before."""
    client.socket.shutdown(socket.SHUT_WR)
    while client.socket.recv(1 << 20):
        pass


def _ends(client: Client) -> None:
    try:
        expect_an_end(client)
    except TimeoutError:
        raise AssertionError("neither answered nor closed") from None
    except OSError:
        pass  # reset


def expect_answer_or_end(client: Client, frame: bytes) -> None:
    """The frame is whole: if the connection stays, the request behind it is served, too."""
    try:
        client.send_bytes(frame + PROBE)
        for _ in range(_MOST_ANSWERS):
            if client.receive_frame()[:4] == PROBE_ID.to_bytes(4, "big"):
                return
    except Gone:
        return
    raise AssertionError("the next request was not answered")


def send_frame(address: Address, frame: bytes) -> None:
    with Client(address) as client:
        if may_park(frame):
            client.send_bytes(frame)
            _ends(client)
        else:
            expect_answer_or_end(client, frame)


def request_of_corners(chance: random.Random, address: Address) -> None:
    """Well formed, with values that make no sense."""
    key = chance.choice(OF_CLIENTS)
    frame = any_frame(chance, key=key, version=chance.randint(*HANDLERS[key]))
    send_frame(address, frame)


def spoilt_request(chance: random.Random, address: Address) -> None:
    key = chance.choice(OF_CLIENTS)
    frame = spoil(chance, any_frame(chance, key=key, version=chance.randint(*HANDLERS[key])))
    if is_fair(frame):
        send_frame(address, frame)


def garbage_body(chance: random.Random, address: Address) -> None:
    """The header of a request that we serve, then noise."""
    key = chance.choice(OF_CLIENTS)
    version = chance.randint(*HANDLERS[key])
    body = struct.pack(">hhi", key, version, 1) + chance.randbytes(chance.choice([0, 2, 30, 3000]))
    send_frame(address, len(body).to_bytes(4, "big") + body)


def unknown_api(chance: random.Random, address: Address) -> None:
    key, version = chance.choice([(999, 0), (-1, 0), (0, 99), (1, -1), (18, 999), (3, 0x7FFF)])
    body = struct.pack(">hhihh", key, version, 1, -1, 0)
    send_frame(address, len(body).to_bytes(4, "big") + body)


def random_bytes(chance: random.Random, address: Address) -> None:
    with Client(address) as client:
        client.send_bytes(chance.randbytes(chance.choice([1, 3, 4, 5, 100, 20_000])))
        _ends(client)


def lying_size(chance: random.Random, address: Address) -> None:
    """A frame that says it is of another size than it is, and then nothing more."""
    size = chance.choice([-1, -0x8000_0000, 0, 1, 7, 99_000_000, 104_857_601, 0x7FFF_FFFF])
    with Client(address) as client:
        try:
            client.send_bytes(struct.pack(">i", size) + PROBE[4:])
        except Gone:
            return
        _ends(client)


def long_and_never_whole(chance: random.Random, address: Address) -> None:
    """Announces a hundred megabytes and sends some."""
    with Client(address) as client:
        try:
            client.send_bytes(struct.pack(">i", 100_000_000) + bytes(chance.randrange(2_000_000)))
        except Gone:
            return
        _ends(client)


def dribble(chance: random.Random, address: Address) -> None:
    """A byte at a time, and the answer comes all the same."""
    with Client(address) as client:
        for byte in PROBE:
            client.send_bytes(bytes([byte]))
        assert client.receive_frame()[:4] == PROBE_ID.to_bytes(4, "big")


def vanish(chance: random.Random, address: Address) -> None:
    """Connect and go, sometimes in the middle of a frame, with a reset or without."""
    with Client(address) as client:
        frame = any_frame(chance, key=1, version=12)
        client.send_bytes(frame[: chance.randrange(len(frame) + 1)])
        if chance.random() < 0.5:
            reset_on_close = struct.pack("ii", 1, 0)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset_on_close)


def garbage_behind_good_requests(chance: random.Random, address: Address) -> None:
    with Client(address) as client:
        good = produce_request("fuzz", batch_of(b"before the noise"), acks=chance.choice([1, -1]))
        count = chance.randint(1, 5)
        frame = encode_request(good, PRODUCE_VERSION, correlation_id=7, client_id="fuzz")
        try:
            client.send_bytes(frame * count + chance.randbytes(chance.choice([5, 50, 5000])))
            for _ in range(count):
                assert client.receive_frame()[:4] == (7).to_bytes(4, "big")
        except Gone:
            return
        _ends(client)


def produce_like_the_last(chance: random.Random, address: Address) -> None:
    """The same request again and again, each time spoilt a little behind its first part."""
    with Client(address) as client:
        good = produce_request(chance.choice(TOPICS), batch_of(b"value", key=b"k"), acks=1)
        version = chance.randint(5, 9)
        frame = encode_request(good, version, correlation_id=7, client_id="fuzz")
        try:
            for _ in range(chance.randint(2, 6)):
                expect_answer_or_end(client, frame)
                body = bytearray(frame[4:])
                at = chance.randrange(len(body) // 2, len(body))
                if chance.random() < 0.5:
                    body[at] ^= 1 << chance.randrange(8)
                else:
                    del body[at:]
                expect_answer_or_end(client, len(body).to_bytes(4, "big") + body)
        except Gone:
            return


def decompression_bomb(chance: random.Random, address: Address) -> None:
    codec = chance.choice([Codec.GZIP, Codec.ZSTD])
    good = produce_request(chance.choice(TOPICS), bomb(codec))
    frame = encode_request(good, PRODUCE_VERSION, correlation_id=7, client_id="fuzz")
    send_frame(address, frame)


# How often each is chosen, and what it is.
ATTACKS = (
    (30, request_of_corners), (40, spoilt_request), (15, garbage_body), (4, unknown_api),
    (5, random_bytes), (5, lying_size), (2, long_and_never_whole), (3, dribble), (6, vanish),
    (6, garbage_behind_good_requests), (10, produce_like_the_last),
)  # fmt: skip


def attack(chance: random.Random, address: Address) -> str:
    """One of them; its name, so that a failure says which it was."""
    weights = [weight for weight, _ in ATTACKS]
    (chosen,) = chance.choices([each for _, each in ATTACKS], weights)
    chosen(chance, address)
    return chosen.__name__
