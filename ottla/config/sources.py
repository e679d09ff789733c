"""Where a broker's properties come from: file, then OTTLA_… environment, then `--set key=value`.

The environment cannot write dots, so a variable is matched with the known names: each name in
capitals, everything but letters and digits as `_`, after `OTTLA_` (once, for our own options).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ottla.config.broker import BROKER_OPTIONS
from ottla.config.names import PER_MECHANISM, listener_name, nearest
from ottla.config.option import ConfigError

_PREFIX = "OTTLA_"
_LISTENER = "OTTLA_LISTENER_NAME_"
_OF_THE_TOOLS = ("OTTLA_BOOTSTRAP",)
_MECHANISMS = ("gssapi", "plain", "scram-sha-256", "scram-sha-512", "oauthbearer")
_NOT_IN_A_VARIABLE = re.compile(r"[^A-Z0-9]")


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the sources say together, and what is worth a warning."""

    properties: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def gather(
    file: Mapping[str, str], *, environment: Mapping[str, str], settings: Iterable[str]
) -> Gathered:
    """The later source wins, option by option."""
    properties, warnings = dict(file), []
    for variable, value in environment.items():
        if not variable.startswith(_PREFIX) or variable in _OF_THE_TOOLS:
            continue
        if name := _BY_VARIABLE.get(variable) or _of_a_listener(variable):
            properties[name] = value
        else:
            hint = nearest(variable, _BY_VARIABLE)
            warnings.append(f"the variable {variable} names no option{hint}")
    return Gathered(properties | parse_settings(settings), tuple(warnings))


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """`key=value` texts, as `--set` takes them."""
    properties, mistakes = split_settings(settings)
    if mistakes:
        raise ConfigError(*mistakes)
    return properties


def split_settings(settings: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """What they set, and what is wrong with those that set nothing."""
    properties, mistakes = {}, []
    for setting in settings:
        name, separator, value = setting.partition("=")
        if separator and name.strip():
            properties[name.strip()] = value
        else:
            mistakes.append(f"--set {setting!r} is not allowed; expected name=value")
    return properties, mistakes


def variable_of(name: str) -> str:
    """The environment variable that sets an option."""
    plain = _NOT_IN_A_VARIABLE.sub("_", name.upper())
    return plain if plain.startswith(_PREFIX) else _PREFIX + plain


_BY_VARIABLE = {variable_of(name): name for name in BROKER_OPTIONS}


def _of_a_listener(variable: str) -> str | None:
    """A listener's name may have underscores too, so the option is matched from the end."""
    if not variable.startswith(_LISTENER):
        return None
    for option in sorted(BROKER_OPTIONS, key=len, reverse=True):
        ending = variable_of(option).removeprefix("OTTLA")
        if variable.endswith(ending) and (listener := variable[len(_LISTENER) : -len(ending)]):
            name = f"listener.name.{_with_mechanism(listener.lower(), option)}.{option}"
            return name if listener_name(name) else None
    return None


def _with_mechanism(listener: str, option: str) -> str:
    if option in PER_MECHANISM:
        for mechanism in _MECHANISMS:
            ending = "_" + mechanism.replace("-", "_")
            if listener.endswith(ending):
                return f"{listener.removesuffix(ending)}.{mechanism}"
    return listener
