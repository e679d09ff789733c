"""A folder of small files, on this machine or wherever Hadoop can reach.

A file is there whole or not at all. On this machine Spark keeps checksums beside its own files; one
that no longer fits would make it refuse the file, so it goes whenever we write the file.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from pyspark.sql import SparkSession


class Folder(Protocol):
    @property
    def path(self) -> str: ...
    def read(self, name: str) -> bytes | None:
        """None if there is no such file."""
        ...

    def write(self, name: str, data: bytes) -> None: ...
    def names(self, under: str = "") -> list[str]:
        """Of files and folders, sorted, without hidden ones; none if there is no such folder."""
        ...

    def delete(self, name: str) -> None:
        """A file or a whole folder; harmless if it is not there."""
        ...

    def rename(self, name: str, *, to: str) -> None: ...


def open_folder(path: str, spark: SparkSession | None = None) -> Folder:
    """A path with a scheme other than file: needs a session, through which Hadoop is asked."""
    if is_local(path):
        parts = urlsplit(path)
        return LocalFolder(unquote(parts.path) if parts.scheme else path)
    assert spark is not None, f"{path} is reached through Spark only"
    return HadoopFolder(path, spark)


def is_local(path: str) -> bool:
    """Whether it is reached without a session."""
    return urlsplit(path).scheme in ("", "file")


class LocalFolder:
    def __init__(self, path: str) -> None:
        self._root = Path(path).absolute()

    @property
    def path(self) -> str:
        return str(self._root)

    def read(self, name: str) -> bytes | None:
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        target = self._root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        target.with_name(f".{target.name}.crc").unlink(missing_ok=True)
        draft.replace(target)

    def names(self, under: str = "") -> list[str]:
        try:
            found = os.listdir(self._root / under)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name for name in found if not name.startswith("."))

    def delete(self, name: str) -> None:
        target = self._root / name
        if target.is_dir():
            shutil.rmtree(target)
            return
        target.unlink(missing_ok=True)
        target.with_name(f".{target.name}.crc").unlink(missing_ok=True)

    def rename(self, name: str, *, to: str) -> None:
        (self._root / to).parent.mkdir(parents=True, exist_ok=True)
        (self._root / name).replace(self._root / to)


class HadoopFolder:
    def __init__(self, path: str, spark: SparkSession) -> None:
        # Spark's own objects have no types.
        context: Any = spark.sparkContext
        self._jvm: Any = context._jvm
        self._root: Any = self._jvm.org.apache.hadoop.fs.Path(path)
        settings: Any = context._jsc.hadoopConfiguration()
        self._files: Any = self._root.getFileSystem(settings)
        # Only this interface of Hadoop's has a rename that replaces a file in one step.
        fs: Any = self._jvm.org.apache.hadoop.fs
        self._contexts: Any = fs.FileContext.getFileContext(self._files.getUri(), settings)
        self._replacing: Any = context._gateway.new_array(fs.Options.Rename, 1)
        self._replacing[0] = fs.Options.Rename.OVERWRITE

    @property
    def path(self) -> str:
        return str(self._root.toString())

    def _at(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, name) if name else self._root

    def read(self, name: str) -> bytes | None:
        if not self._files.exists(self._at(name)):
            return None
        stream = self._files.open(self._at(name))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def write(self, name: str, data: bytes) -> None:
        target = self._at(name)
        draft = self._jvm.org.apache.hadoop.fs.Path(
            target.getParent(), f".{target.getName()}.draft"
        )
        stream = self._files.create(draft, True)
        stream.write(bytearray(data))
        stream.close()
        self._contexts.rename(draft, target, self._replacing)

    def names(self, under: str = "") -> list[str]:
        if not self._files.exists(self._at(under)):
            return []
        found = [
            str(status.getPath().getName()) for status in self._files.listStatus(self._at(under))
        ]
        return sorted(name for name in found if not name.startswith("."))

    def delete(self, name: str) -> None:
        self._files.delete(self._at(name), True)

    def rename(self, name: str, *, to: str) -> None:
        self._files.mkdirs(self._at(to).getParent())
        self._files.rename(self._at(name), self._at(to))
