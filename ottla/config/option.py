"""What an option is: its name, type, default, limits and meaning, declared once; and the values.

`config[OPTION]` has the option's type. An option is never looked up by a bare string in the code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, cast

from ottla.config.kind import PASSWORD, Kind, to_text

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class ConfigError(Exception):
    """A mistake of the operator's; says the option, the value and the limit, one mistake a line."""

    def __init__(self, *mistakes: str) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


class Change(Enum):
    """Who may change an option of a running broker (KIP-226)."""

    LIVE = "cluster-wide or per broker"
    PER_BROKER = "per broker only"
    READ_ONLY = "only at start"


@dataclass(frozen=True, slots=True)
class Computed(Generic[T_co]):
    """A default that follows from other options; Kafka describes such an option as unset."""

    of: Callable[[Config], T_co]


@dataclass(frozen=True, slots=True, eq=False)
class Option(Generic[T_co]):
    """One option; covariant, so that an int option serves where a number is asked for.

    `validator` returns what is expected instead when it refuses a value.
    """

    name: str
    type: Kind[T_co]
    default: T_co | Computed[T_co]
    doc: str
    at_least: float | None = None
    at_most: float | None = None
    one_of: tuple[str, ...] = ()
    validator: Callable[[T_co], str | None] | None = None
    change: Change = Change.READ_ONLY
    per_topic: str | None = None  # the topic option that this is the default of
    internal: bool = False  # not described unless it is set, as in Kafka

    @property
    def sensitive(self) -> bool:
        return self.type.code == PASSWORD.code

    @property
    def default_text(self) -> str | None:
        """As Kafka describes it: a computed default is none."""
        return None if isinstance(self.default, Computed) else to_text(self.default)

    def parse(self, text: str) -> T_co:
        """The value, or a ConfigError that names option, value and limit."""
        try:
            value = self.type.read(text)
        except ValueError as error:
            raise self._mistake(text, str(error)) from None
        if expected := self._refusal(value):
            raise self._mistake(text, expected)
        return value

    def _refusal(self, value: Any) -> str | None:
        if isinstance(value, int | float) and not self._is_within(value):
            return self.limits
        if self.one_of and not self._is_listed(value):
            return self.limits
        return self.validator(value) if self.validator else None

    def _is_within(self, number: float) -> bool:
        above = self.at_least is None or number >= self.at_least
        return above and (self.at_most is None or number <= self.at_most)

    def _is_listed(self, value: object) -> bool:
        """Of a list, every element must be."""
        return all(one in self.one_of for one in (value if isinstance(value, tuple) else (value,)))

    @property
    def limits(self) -> str:
        """What a value must keep, in words; empty when anything goes."""
        if self.one_of:
            return f"one of {', '.join(self.one_of)}"
        bounds = {"at least": self.at_least, "at most": self.at_most}
        return " and ".join(f"{word} {n}" for word, n in bounds.items() if n is not None)

    def _mistake(self, text: str, expected: str) -> ConfigError:
        shown = "the value given" if self.sensitive else repr(text)
        return ConfigError(f"{self.name}: {shown} is not allowed; expected {expected}")


AnyOption = Option[Any]


def declared(*namespaces: Mapping[str, object]) -> dict[str, AnyOption]:
    """The options of these modules by name, in the order they stand there."""
    options: dict[str, AnyOption] = {}
    for namespace in namespaces:
        for value in namespace.values():
            if isinstance(value, Option):
                assert options.setdefault(value.name, value) is value, f"{value.name} stands twice"
    return options


class Config:
    """The values of a set of options, parsed and checked; never changed."""

    __slots__ = ("_set", "_values")

    def __init__(
        self,
        options: Mapping[str, AnyOption],
        values: Mapping[str, object],
        *,
        instead_of_defaults: Mapping[str, object] | None = None,
    ) -> None:
        assert values.keys() <= options.keys()
        self._set = dict(values)
        self._values = {name: option.default for name, option in options.items()}
        self._values |= instead_of_defaults or {}
        self._values |= self._set

    def __getitem__(self, option: Option[T]) -> T:
        value = self._values[option.name]
        if isinstance(value, Computed):
            value = value.of(self)
        return cast(T, value)  # Only what this option's kind has read is filed under its name.

    def is_set(self, option: AnyOption) -> bool:
        """Given by somebody, if only to the value of its default."""
        return option.name in self._set

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]  # compared by value, held by identity


def parse_values(
    options: Mapping[str, AnyOption], properties: Mapping[str, str]
) -> tuple[dict[str, object], list[str]]:
    """The values of the known names, and every mistake among them."""
    values: dict[str, object] = {}
    mistakes: list[str] = []
    for name, text in properties.items():
        if option := options.get(name):
            try:
                values[name] = option.parse(text)
            except ConfigError as error:
                mistakes += error.mistakes
    return values, mistakes
