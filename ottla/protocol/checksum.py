"""CRC-32C, by the processor's own instruction.

The package around the C module looks up its own version when it is imported, which loads
importlib.metadata and searches sys.path: about 40 of 300 ms of a broker's start, when it was
measured on a busy machine. So the C module alone is loaded, if it is found.
"""

from __future__ import annotations

from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

_package = None if TYPE_CHECKING else find_spec("crc32c")
_inner = _package and PathFinder.find_spec("_crc32c", _package.submodule_search_locations)

if TYPE_CHECKING or _inner is None or _inner.loader is None:
    from crc32c import crc32c
else:
    _module = module_from_spec(_inner)
    _inner.loader.exec_module(_module)
    crc32c = _module.crc32c

__all__ = ["crc32c"]
