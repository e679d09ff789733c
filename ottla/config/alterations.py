"""What AlterConfigs and IncrementalAlterConfigs ask for, applied to the texts that are set now.

Where Kafka answers UNKNOWN_SERVER_ERROR (an operation that does not exist, appending to a name
that does not) the refusal here says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from ottla.config.kind import LIST
from ottla.config.option import AnyOption
from ottla.config.refusal import INVALID_CONFIG, INVALID_REQUEST, ConfigRefused


class Operation(IntEnum):
    """As numbered in IncrementalAlterConfigs."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    """One change; `operation` as it came from the client, who may have invented it."""

    name: str
    operation: int
    value: str | None = None


def replaced(properties: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """AlterConfigs: what is not named is unset."""
    pairs = list(properties)
    _refuse_repeated([name for name, _ in pairs])
    _refuse_null([name for name, value in pairs if value is None])
    return {name: value for name, value in pairs if value is not None}


def altered(
    current: Mapping[str, str],
    alterations: Sequence[Alteration],
    find: Callable[[str], AnyOption | None],
) -> dict[str, str]:
    """IncrementalAlterConfigs: what is not named stays."""
    operations = [checked_operation(alteration) for alteration in alterations]
    _refuse_repeated([alteration.name for alteration in alterations])
    properties = dict(current)
    for alteration, operation in zip(alterations, operations, strict=True):
        name, value = alteration.name, alteration.value or ""
        if operation is Operation.DELETE:
            properties.pop(name, None)
        elif operation is Operation.SET:
            properties[name] = value
        else:
            properties[name] = _edited_list(properties, name, operation, value, find(name))
    return properties


def checked_operation(alteration: Alteration) -> Operation:
    try:
        operation = Operation(alteration.operation)
    except ValueError:
        raise ConfigRefused(
            INVALID_REQUEST,
            f"operation {alteration.operation} on {alteration.name} does not exist; "
            "expected 0 (set), 1 (delete), 2 (append) or 3 (subtract)",
        ) from None
    if operation is not Operation.DELETE and alteration.value is None:
        _refuse_null([alteration.name])
    return operation


def _edited_list(
    properties: Mapping[str, str],
    name: str,
    operation: Operation,
    value: str,
    option: AnyOption | None,
) -> str:
    if option is None or option.type is not LIST:
        kind = "not known" if option is None else f"of type {option.type.name}"
        raise ConfigRefused(
            INVALID_CONFIG,
            f"{operation.name.lower()} to {name} is not allowed: it is {kind}, not a list",
        )
    before = LIST.read(properties.get(name, option.default_text or ""))
    named = LIST.read(value)
    if operation is Operation.APPEND:
        after = dict.fromkeys((*before, *named))
    else:
        after = dict.fromkeys(one for one in before if one not in named)
    return ",".join(after)


def _refuse_repeated(names: Sequence[str]) -> None:
    repeated = dict.fromkeys(name for name in names if names.count(name) > 1)
    if repeated:
        raise ConfigRefused(INVALID_REQUEST, f"named more than once: {', '.join(repeated)}")


def _refuse_null(names: Sequence[str]) -> None:
    if names:
        raise ConfigRefused(
            INVALID_REQUEST, f"no value given for {', '.join(names)}; to unset, delete"
        )
