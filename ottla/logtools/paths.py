"""Where the files of a log directory lie beside each other."""

from __future__ import annotations

from ottla.storage.names import FileName, Kind


def split_path(path: str) -> tuple[str, str]:
    """Folder and name; the folder of a bare name is the current one."""
    folder, slash, name = path.rstrip("/").rpartition("/")
    return folder or slash or ".", name


def sibling(path: str, name: FileName, kind: Kind) -> str:
    """Another file of the same segment, at the same stage."""
    return f"{split_path(path)[0]}/{name._replace(kind=kind)}"
