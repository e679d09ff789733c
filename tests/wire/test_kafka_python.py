"""kafka-python reads what we write, finds the same values, and writes the same bytes.

Its schemas are those of Kafka 4.x. What is left out, and why:

- Versions newer than 3.9.1's, which we do not have: see NEWER. APIs it does not have: see MISSING.
- Unknown tags: it reads them but does not write them again.
- ApiVersions responses with an error: it reads all of them in version 0, but a broker falls back to
  version 0 for error 35 alone. Kafka 3.9.1's own bytes in the vectors (`full`, v1 to v4) show it.
"""

from __future__ import annotations

import gzip
import json
import pkgutil
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ottla.protocol.apis.api_versions import ApiVersionsResponse
from ottla.protocol.codec import decode, encode
from ottla.protocol.framing import encode_request, encode_response
from ottla.protocol.layout import layout_of, zero_of
from ottla.protocol.primitives import ZERO_UUID
from ottla.protocol.registry import API_NAMES, request_type, response_type
from ottla.protocol.schema import Message, Struct
from tests.wire.strategies import messages
from tests.wire.subjects import Subject

with warnings.catch_warnings():
    # It reads its own schemas by a call that Python 3.11 deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import protocol as theirs
    from kafka.protocol.api_message import ApiMessage

    for found in pkgutil.walk_packages(theirs.__path__, theirs.__name__ + "."):
        if ".old" not in found.name and not found.name.endswith("generate_stubs"):
            import_module(found.name)

VECTORS = Path(__file__).parent / "vectors"

THEIRS = {(cls.API_KEY, cls.type): cls for cls in ApiMessage.__subclasses__()}
OURS = {
    (key, side): find(key)
    for key in API_NAMES
    for side, find in (("request", request_type), ("response", response_type))
}
# API → the newest version that kafka-python has; what is beyond 3.9.1's is left out.
NEWER = {
    "Produce": 13, "Fetch": 18, "ListOffsets": 11, "Metadata": 13, "OffsetCommit": 10,
    "OffsetFetch": 10, "DescribeGroups": 6, "InitProducerId": 6, "EndTxn": 5, "WriteTxnMarkers": 2,
    "TxnOffsetCommit": 5, "DescribeLogDirs": 5, "AlterPartitionReassignments": 1,
    "UpdateFeatures": 2, "DescribeCluster": 2, "ListTransactions": 2,
    "ListClientMetricsResources": 1,
}  # fmt: skip
# APIs that are not a client's business, or that kafka-python has no use for.
MISSING = [
    "LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown", "CreateDelegationToken",
    "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken", "Vote",
    "BeginQuorumEpoch", "EndQuorumEpoch", "AlterPartition", "Envelope", "FetchSnapshot",
    "BrokerRegistration", "BrokerHeartbeat", "UnregisterBroker", "AllocateProducerIds",
    "ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "ControllerRegistration",
    "GetTelemetrySubscriptions", "PushTelemetry", "AssignReplicasToDirs", "ShareGroupHeartbeat",
    "ShareGroupDescribe", "ShareFetch", "ShareAcknowledge", "AddRaftVoter", "RemoveRaftVoter",
    "UpdateRaftVoter", "InitializeShareGroupState", "ReadShareGroupState", "WriteShareGroupState",
    "DeleteShareGroupState", "ReadShareGroupStateSummary",
]  # fmt: skip
# Our name, which is 3.9.1's → theirs: three shortened by them, two renamed in Kafka 4.1.
RENAMED = {
    "MetadataResponse.cluster_authorized_operations": "authorized_operations",
    "MetadataResponseTopic.topic_authorized_operations": "authorized_operations",
    "DescribeClusterResponse.cluster_authorized_operations": "authorized_operations",
    "ListClientMetricsResourcesResponse.client_metrics_resources": "config_resources",
    "ClientMetricsResource.name": "resource_name",
}

CHECKED_VECTORS = 3127
SUBJECTS = [
    Subject(OURS[api], version)
    for api, their_type in THEIRS.items()
    for version in range(min(OURS[api].newest, their_type.max_version) + 1)
]


def side_of(cls: type[Message]) -> str:
    return "request" if cls.__name__.endswith("Request") else "response"


def read_by_them(subject: Subject, data: bytes) -> Any:
    cls, version = subject
    return THEIRS[cls.api_key, side_of(cls)].decode(data, version=version)


def written_by_them(found: Any, version: int) -> bytes:
    found._header = None  # decode leaves it unset, and encode asks for it
    return bytes(found.encode(version=version))


def our_values(struct: Struct, version: int) -> dict[str, Any]:
    layout = layout_of(type(struct), version, flexible=True)
    names = [slot.name for slot in layout.inline + layout.tagged]
    return {
        RENAMED.get(f"{type(struct).__name__}.{name}", name): _plain(getattr(struct, name), version)
        for name in names
    }


def _plain(value: Any, version: int) -> Any:
    if isinstance(value, Struct):
        return our_values(value, version)
    if isinstance(value, list):
        return [_plain(item, version) for item in value]
    return bytes(value) if isinstance(value, memoryview) else value


def differences(ours: Any, their: Any, path: str = "") -> Iterator[str]:
    """Where the two differ, after what kafka-python shows in another form is put into ours."""
    if isinstance(ours, dict) and isinstance(their, dict):
        if ours.keys() != their.keys():
            yield f"{path}: fields {sorted(ours.keys() ^ their.keys())}"
        for name in [name for name in ours if name in their]:
            yield from differences(ours[name], their[name], f"{path}.{name}")
    elif isinstance(ours, list) and isinstance(their, list):
        if len(ours) != len(their):
            yield f"{path}: {len(ours)} and {len(their)} of them"
        for index, pair in enumerate(zip(ours, their, strict=False)):
            yield from differences(*pair, f"{path}[{index}]")
    elif ours != _in_our_form(ours, their):
        yield f"{path}: {ours!r} and {their!r}"


def _in_our_form(ours: Any, their: Any) -> Any:
    if isinstance(their, UUID):
        return their.bytes
    if isinstance(their, memoryview):
        return bytes(their)
    if isinstance(their, set):  # the bits of authorized operations
        bits = sum(1 << bit for bit in their)
        return bits - (1 << 32) if bits >= 1 << 31 else bits
    if their is None and isinstance(ours, int):  # … of which the lowest int32 means unknown
        return -(1 << 31)
    if their is None and isinstance(ours, bytes) and ours == ZERO_UUID:
        return ZERO_UUID
    return their


def expect_agreement(subject: Subject, message: Message, data: bytes) -> None:
    found = read_by_them(subject, data)
    ours, their = our_values(message, subject.version), found.to_dict(json=False)
    assert [f"{subject} {told}" for told in differences(ours, their)] == []
    assert written_by_them(found, subject.version) == data


def vectors() -> Iterator[tuple[Subject, bytes]]:
    for file in ("requests", "responses"):
        with gzip.open(VECTORS / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for case in map(json.loads, lines):
                subject = Subject(OURS[case["key"], case["side"]], case["version"])
                if subject in SUBJECTS and case["kind"] != "unknown_tags":
                    yield subject, bytes.fromhex(case["hex"])


def is_read_in_version_0(message: Message) -> bool:
    return isinstance(message, ApiVersionsResponse) and message.error_code != 0


def test_what_is_left_out_is_what_the_lists_say() -> None:
    for side in ("request", "response"):
        their = {API_NAMES[key]: cls for (key, of), cls in THEIRS.items() if of == side}
        newer = {
            name: cls.max_version
            for name, cls in their.items()
            if cls.max_version > OURS[cls.API_KEY, side].newest
        }
        assert newer == NEWER
        assert [name for name in API_NAMES.values() if name not in their] == MISSING


def test_kafkas_own_bytes_mean_the_same_to_both() -> None:
    checked = 0
    for subject, data in vectors():
        message = decode(subject.cls, data, subject.version)
        if not is_read_in_version_0(message):
            expect_agreement(subject, message, data)
            checked += 1
    assert checked == CHECKED_VECTORS


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
@settings(
    max_examples=settings().max_examples // 10,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_random_values_mean_the_same_to_both(subject: Subject, data: st.DataObject) -> None:
    message = data.draw(messages(subject, unknown_tags=False))
    if isinstance(message, ApiVersionsResponse):
        message.error_code = 0
    expect_agreement(subject, message, encode(message, subject.version))


REQUESTS = [subject for subject in SUBJECTS if side_of(subject.cls) == "request"]
RESPONSES = [subject for subject in SUBJECTS if side_of(subject.cls) == "response"]


@pytest.mark.parametrize("subject", REQUESTS, ids=str)
def test_a_whole_request_means_the_same_to_both(subject: Subject) -> None:
    cls, version = subject
    frame = encode_request(zero_of(cls), version, correlation_id=-7, client_id="größe")
    their_type = THEIRS[cls.api_key, "request"]
    found = their_type.decode(frame, version=version, header=True, framed=True)
    header = found.header
    assert (header.request_api_key, header.request_api_version) == (cls.api_key, version)
    assert (header.correlation_id, header.client_id) == (-7, "größe")
    assert bytes(found.encode(version=version, header=True, framed=True)) == frame


@pytest.mark.parametrize("subject", RESPONSES, ids=str)
def test_a_whole_response_is_read_by_them(subject: Subject) -> None:
    # They cannot write one: their encode takes the header for a request's.
    cls, version = subject
    body = zero_of(cls)
    frame = encode_response(body, version, correlation_id=-7)
    their_type = THEIRS[cls.api_key, "response"]
    found = their_type.decode(frame, version=version, header=True, framed=True)
    assert found.header.correlation_id == -7
    assert written_by_them(found, version) == encode(body, version)
