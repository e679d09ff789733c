"""Texts are read and written as Java's Kafka does."""

from __future__ import annotations

import pytest

from ottla.config.kind import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    SHORT,
    STRING,
    Kind,
    Password,
    to_text,
)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (STRING, " a b ", "a b"),
        (BOOLEAN, " TRUE ", True),
        (BOOLEAN, "False", False),
        (INT, " +5 ", 5),
        (INT, "-2147483648", -(1 << 31)),
        (LONG, "9223372036854775807", (1 << 63) - 1),
        (DOUBLE, "1e3", 1000.0),
        (DOUBLE, "Infinity", float("inf")),
        (LIST, "a, b ,,c,", ("a", "b", "", "c", "")),
        (LIST, "  ", ()),
        (PASSWORD, " p ", Password("p")),
    ],
)
def test_a_text_is_trimmed_and_read(kind: Kind[object], text: str, value: object) -> None:
    assert kind.read(text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (BOOLEAN, "yes"),
        (INT, ""),
        (INT, "1_0"),
        (INT, "1.0"),
        (INT, "3000000000"),
        (SHORT, "70000"),
        (LONG, "9223372036854775808"),
        (DOUBLE, "inf"),
        (DOUBLE, "one"),
    ],
)
def test_a_text_of_another_type_is_refused(kind: Kind[object], text: str) -> None:
    with pytest.raises(ValueError, match=r"number|true or false"):
        kind.read(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (7, "7"),
        (("a", "b"), "a,b"),
        (Password("secret"), "secret"),
        (0.5, "0.5"),
        (100.0, "100.0"),
        (0.0, "0.0"),
        (1e7, "1.0E7"),
        (123456789.5, "1.234567895E8"),
        (5e-4, "5.0E-4"),
        (-2.5e-10, "-2.5E-10"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_a_value_is_written_as_java_writes_it(value: object, text: str | None) -> None:
    assert to_text(value) == text


def test_a_password_hides_itself() -> None:
    assert "secret" not in f"{Password('secret')} {Password('secret')!r}"
