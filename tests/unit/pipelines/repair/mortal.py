"""Folders whose owner dies after so many changes to them."""

from __future__ import annotations

from ottla.pipelines.folder import Folder


class Died(Exception):
    pass


class Life:
    def __init__(self, changes: int) -> None:
        self.left = changes

    def change(self) -> None:
        if self.left == 0:
            raise Died
        self.left -= 1


class MortalFolder:
    def __init__(self, folder: Folder, life: Life) -> None:
        self._folder = folder
        self._life = life

    @property
    def path(self) -> str:
        return self._folder.path

    def read(self, name: str) -> bytes | None:
        return self._folder.read(name)

    def names(self, under: str = "") -> list[str]:
        return self._folder.names(under)

    def write(self, name: str, data: bytes) -> None:
        self._life.change()
        self._folder.write(name, data)

    def delete(self, name: str) -> None:
        self._life.change()
        self._folder.delete(name)

    def rename(self, name: str, *, to: str) -> None:
        self._life.change()
        self._folder.rename(name, to=to)
