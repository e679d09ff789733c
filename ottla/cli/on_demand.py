"""The commands by name. A command's module is loaded when it is called, or when all are listed."""

from __future__ import annotations

import gc
from importlib import import_module
from types import ModuleType
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

# Each module holds a Typer of the command's name, with an underscore for the hyphen.
MODULES = {
    "up": "ottla.cli.up",
    "demo": "ottla.cli.demo",
    "broker": "ottla.cli.broker",
    "topics": "ottla.cli.topics",
    "configs": "ottla.cli.configs",
    "offsets": "ottla.cli.offsets",
    "groups": "ottla.cli.groups",
    "transactions": "ottla.cli.transactions",
    "quotas": "ottla.cli.quotas",
    "log-dirs": "ottla.cli.log_dirs",
    "produce": "ottla.cli.produce",
    "consume": "ottla.cli.consume",
    "pipeline": "ottla.cli.pipeline",
    "verify": "ottla.cli.verify",
    "bench": "ottla.cli.bench",
    "log": "ottla.cli.log",
    "debug": "ottla.cli.debug",
    "spark": "ottla.cli.spark",
    "protocol": "ottla.cli.protocol",
}


class CommandsOnDemand(TyperGroup):
    """Starts with names alone, enough to suggest the nearest one for a mistyped word."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._unloaded = dict(MODULES)
        self.commands = {name: TyperGroup(name=name) for name in MODULES}

    # Typer's own types for these are private.
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if module := self._unloaded.pop(cmd_name, None):
            found = getattr(_load(module), cmd_name.replace("-", "_"))
            self.commands[cmd_name] = get_command(found)
            self.commands[cmd_name].name = cmd_name
        return super().get_command(ctx, cmd_name)


def _load(name: str) -> ModuleType:
    """Nothing that is loaded is garbage: the collector, which would look often, need never look."""
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()
