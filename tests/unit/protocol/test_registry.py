"""The APIs by key: every file is registered, every name leads to its classes."""

from __future__ import annotations

import pkgutil

import pytest

from ottla.protocol import apis
from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.registry import (
    API_NAMES,
    module_name,
    request_header_version,
    request_type,
    response_header_version,
    response_type,
)


def test_the_keys_run_from_0_to_87_without_a_gap() -> None:
    assert list(API_NAMES) == list(range(88))


def test_no_two_apis_share_a_name() -> None:
    assert len(set(API_NAMES.values())) == len(API_NAMES)


def test_every_file_of_messages_is_registered_and_every_api_has_its_file() -> None:
    files = sorted(found.name for found in pkgutil.iter_modules(apis.__path__))
    assert files == sorted(map(module_name, API_NAMES.values()))


@pytest.mark.parametrize(("key", "name"), API_NAMES.items())
def test_a_key_leads_to_the_two_messages_of_its_api(key: int, name: str) -> None:
    for cls, side in ((request_type(key), "Request"), (response_type(key), "Response")):
        assert cls.__name__ == name + side
        assert cls.__module__ == f"ottla.protocol.apis.{module_name(name)}"
        assert cls.api_key == key


@pytest.mark.parametrize("key", API_NAMES)
def test_a_request_and_its_response_have_the_same_versions(key: int) -> None:
    request, response = request_type(key), response_type(key)
    assert (request.oldest, request.newest) == (response.oldest, response.newest)
    assert request.flexible_from == response.flexible_from


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("Fetch", "fetch"),
        ("LeaderAndIsr", "leader_and_isr"),
        ("DescribeLogDirs", "describe_log_dirs"),
        ("AddPartitionsToTxn", "add_partitions_to_txn"),
    ],
)
def test_a_module_is_named_in_snake_case(name: str, module: str) -> None:
    assert module_name(name) == module


def test_a_message_is_found_once_and_kept() -> None:
    assert request_type(0) is request_type(0)


@pytest.mark.parametrize("key", [-1, 88, 32767])
def test_an_unknown_key_is_refused(key: int) -> None:
    for find, place in (
        (request_type, "request header, field request_api_key, byte 0"),
        (response_type, "response header, field request_api_key"),
    ):
        with pytest.raises(ProtocolError) as refused:
            find(key)
        assert refused.value.code is ErrorCode.UNSUPPORTED_VERSION
        cause = f"there is no API with key {key}"
        assert str(refused.value) == f"UNSUPPORTED_VERSION: {place}: {cause}"


def test_a_flexible_request_has_header_2_and_an_old_one_header_1() -> None:
    assert [request_header_version(12, version) for version in range(5)] == [1, 1, 1, 1, 2]
    assert [response_header_version(12, version) for version in range(5)] == [0, 0, 0, 0, 1]


def test_only_the_oldest_controlled_shutdown_has_header_0() -> None:
    assert [request_header_version(7, version) for version in range(4)] == [0, 1, 1, 2]
    assert [response_header_version(7, version) for version in range(4)] == [0, 0, 0, 1]


def test_a_response_to_api_versions_has_header_0_in_every_version() -> None:
    assert [request_header_version(18, version) for version in range(5)] == [1, 1, 1, 2, 2]
    assert [response_header_version(18, version) for version in range(5)] == [0] * 5


def test_sasl_handshake_never_became_flexible() -> None:
    assert request_type(17).flexible_from is None
    assert request_header_version(17, 1) == 1
    assert response_header_version(17, 1) == 0
