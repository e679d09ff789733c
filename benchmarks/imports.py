"""How long importing the protocol takes, beside `import asyncio`, each in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys

ASYNCIO = "import asyncio"
PACKAGE = "import ottla.protocol.framing, ottla.protocol.records.convert"
EVERYTHING = f"""{PACKAGE}
from ottla.protocol.registry import API_NAMES, request_type, response_type
for key in API_NAMES:
    request_type(key), response_type(key)"""
MUST = 2.0


def main() -> None:
    asyncio = _milliseconds(ASYNCIO)
    print(f"{'import asyncio':44}{asyncio:8.1f} ms")
    for what, code in (("protocol package", PACKAGE), ("and every message of it", EVERYTHING)):
        took = _milliseconds(code)
        verdict = "ok" if took <= MUST * asyncio else f"> {MUST}x"
        print(f"{what:44}{took:8.1f} ms{took / asyncio:7.2f}x {verdict}")


def _milliseconds(code: str) -> float:
    """The best of ten; bytecode is cached, as in any installed package."""
    timed = f"import time\nstart = time.perf_counter()\n{code}\nprint(time.perf_counter() - start)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    runs = [
        subprocess.run(
            [sys.executable, "-c", timed],
            env=environment,
            capture_output=True,
            check=True,
            text=True,
        )
        for _ in range(10)
    ]
    return min(float(run.stdout) for run in runs) * 1000


if __name__ == "__main__":
    main()
