"""What a command says where an optional package is missing."""

from __future__ import annotations


class MissingExtra(Exception):
    """The package is not installed; the message says how to get it."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"this command needs {package}. Install it with `pip install 'ottla[cli]'`"
        )
