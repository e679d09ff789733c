"""Whether a sink can be written to, asked before anything runs. Topics are looked up elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ottla.pipelines.declaration import DatabaseTable, DeltaTable, ParquetFolder, SinkPlace
from ottla.pipelines.sinks.making import make_database
from ottla.pipelines.sinks.port import SinkRefused


def unreachable(place: SinkPlace) -> str | None:
    """Why it cannot be written to; None if nothing speaks against it."""
    match place:
        case DatabaseTable():
            return _unanswered(place)
        case ParquetFolder(path=path) | DeltaTable(path=path):
            return _unwritable(path)
        case _:
            return None


def _unanswered(place: DatabaseTable) -> str | None:
    try:
        database = make_database(place)
        database.open()
    except SinkRefused as cause:
        return str(cause)
    database.close()
    return None


def _unwritable(path: str) -> str | None:
    """It need not be there yet, but something above it must take it."""
    parts = urlsplit(path)
    if parts.scheme not in ("", "file"):
        return None  # only Spark can ask
    folder = Path(unquote(parts.path) if parts.scheme else path).absolute()
    above = next(each for each in (folder, *folder.parents) if each.exists())
    if not above.is_dir():
        return f"{above} is a file, not a folder"
    return None if os.access(above, os.W_OK | os.X_OK) else f"{above} may not be written to"
