"""File, environment and command line, the later over the earlier."""

from __future__ import annotations

import pytest

from ottla.config.broker import BROKER_OPTIONS
from ottla.config.option import ConfigError
from ottla.config.sources import gather, variable_of


def test_the_environment_outweighs_the_file_and_the_command_line_both() -> None:
    gathered = gather(
        {"log.dirs": "file", "broker.id": "1", "num.partitions": "2"},
        environment={"OTTLA_BROKER_ID": "3", "OTTLA_NUM_PARTITIONS": "4", "HOME": "elsewhere"},
        settings=["num.partitions=5", "log.message=a=b"],
    )
    assert gathered.properties == {
        "log.dirs": "file",
        "broker.id": "3",
        "num.partitions": "5",
        "log.message": "a=b",
    }
    assert gathered.warnings == ()


def test_the_variable_of_the_tools_is_not_taken_for_an_option() -> None:
    gathered = gather({}, environment={"OTTLA_BOOTSTRAP": "127.0.0.1:9092"}, settings=[])
    assert (gathered.properties, gathered.warnings) == ({}, ())


def test_every_option_has_a_variable_of_its_own() -> None:
    variables = [variable_of(name) for name in BROKER_OPTIONS]
    assert len(set(variables)) == len(variables)
    gathered = gather({}, environment=dict.fromkeys(variables, "x"), settings=[])
    assert gathered.properties.keys() == BROKER_OPTIONS.keys()


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("OTTLA_HTTP_PORT", "ottla.http.port"),
        ("OTTLA_ZOOKEEPER_CLIENTCNXNSOCKET", "zookeeper.clientCnxnSocket"),
        (
            "OTTLA_LISTENER_NAME_SASL_SSL_SSL_KEYSTORE_LOCATION",
            "listener.name.sasl_ssl.ssl.keystore.location",
        ),
        (
            "OTTLA_LISTENER_NAME_OUTER_SCRAM_SHA_256_SASL_JAAS_CONFIG",
            "listener.name.outer.scram-sha-256.sasl.jaas.config",
        ),
        (
            "OTTLA_LISTENER_NAME_OUTER_SASL_JAAS_CONFIG",
            "listener.name.outer.sasl.jaas.config",
        ),
    ],
)
def test_a_variable_stands_for_a_name(variable: str, name: str) -> None:
    assert gather({}, environment={variable: "x"}, settings=[]).properties == {name: "x"}


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("OTTLA_LOG_SEGMENT_BYTE", "; did you mean OTTLA_LOG_SEGMENT_BYTES?"),
        ("OTTLA_LISTENER_NAME_OUTER_LOG_DIRS", ""),
        ("OTTLA_Q", ""),
    ],
)
def test_a_variable_that_names_nothing_is_warned_of(variable: str, hint: str) -> None:
    gathered = gather({}, environment={variable: "x"}, settings=[])
    assert gathered.properties == {}
    assert gathered.warnings == (f"the variable {variable} names no option{hint}",)


def test_all_broken_settings_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        gather({}, environment={}, settings=["a", "b=1", "=c"])
    assert len(caught.value.mistakes) == 2
