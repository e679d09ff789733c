"""Turns what can go wrong with a file into a sentence with the file, the place and the way out."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ottla.cli.failure import fail
from ottla.storage.files import CorruptLog, DiskFailed

P = ParamSpec("P")
R = TypeVar("R")


def explained(command: Callable[P, R]) -> Callable[P, R]:
    """The command, without a stack trace for what an operator's files can do to it."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise  # the reader of our output left: not about a file, and the root handles it
        except FileNotFoundError as cause:
            fail(f"{cause.filename}: there is no such file or folder.")
        except PermissionError as cause:
            fail(f"{cause.filename}: you may not read it. Try as the user that the broker runs as.")
        except CorruptLog as cause:
            fail(
                f"{cause}. Run `ottla log verify` on its folder; a broker cuts the log there "
                "when it recovers."
            )
        except DiskFailed as cause:
            fail(f"{cause}. The disk fails: copy what can be read, then replace it.")
        except (IsADirectoryError, NotADirectoryError) as cause:
            fail(f"{cause.filename}: {(cause.strerror or 'not what was expected').lower()}.")

    return run
