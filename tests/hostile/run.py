"""`python -m tests.hostile.run --bootstrap HOST:PORT [--seconds N] [--seed N]`: a fuzzed broker.

Ends with 1 as soon as an honest client is not served any more, and names the last attacks.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import deque
from collections.abc import Sequence

from tests.hostile.attacker import Attacker, NeverReads
from tests.targets.connection import Closed

_BETWEEN_CHECKS = 20
_DEAF_BYTES = 64 << 20


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    attacker = Attacker(options.bootstrap, options.seed)
    attacker.prepare()
    over = threading.Event()
    clock = threading.Timer(options.seconds, over.set)
    clock.daemon = True
    clock.start()
    deaf = NeverReads(options.bootstrap)
    if not deaf.is_stopped_within(_DEAF_BYTES):
        return _fail("it reads on, though nobody takes its answers", options.seed, [])
    recent: deque[str] = deque(maxlen=_BETWEEN_CHECKS)
    while not over.is_set():
        recent.extend(attacker.attack() for _ in range(_BETWEEN_CHECKS))
        try:
            is_served = attacker.is_served()
        except (OSError, Closed) as error:
            return _fail(f"an honest client is not served: {error!r}", options.seed, recent)
        if not is_served:
            return _fail("an honest client is told of no broker", options.seed, recent)
    deaf.close()
    sys.stdout.write(f"{attacker.done.total()} attacks, and it serves\n")
    return 0


def _fail(why: str, seed: int, recent: Sequence[str] | deque[str]) -> int:
    sys.stdout.write("\n  ".join([f"{why} (seed {seed}); last attacks:", *recent]) + "\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.run")
    parser.add_argument("--bootstrap", default="127.0.0.1:9092", metavar="HOST:PORT")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
