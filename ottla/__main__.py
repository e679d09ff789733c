"""The one program, `ottla`. Its commands are in cli/; a mistake ends in a sentence, not a stack."""

from __future__ import annotations

import sys

from ottla.cli.app import app
from ottla.protocol.errors import KafkaError


def main() -> None:
    if sys.flags.optimize:
        sys.exit("ottla: start Python without -O or PYTHONOPTIMIZE; the broker's asserts stay on.")
    try:
        app(prog_name="ottla")
    except (KafkaError, OSError) as mistake:
        sys.exit(f"ottla: {mistake}")


if __name__ == "__main__":
    main()
