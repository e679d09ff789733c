"""The APIs by key. A message is loaded the first time somebody asks for it."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.schema import Message

API_NAMES = {
    0: "Produce",
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    4: "LeaderAndIsr",
    5: "StopReplica",
    6: "UpdateMetadata",
    7: "ControlledShutdown",
    8: "OffsetCommit",
    9: "OffsetFetch",
    10: "FindCoordinator",
    11: "JoinGroup",
    12: "Heartbeat",
    13: "LeaveGroup",
    14: "SyncGroup",
    15: "DescribeGroups",
    16: "ListGroups",
    17: "SaslHandshake",
    18: "ApiVersions",
    19: "CreateTopics",
    20: "DeleteTopics",
    21: "DeleteRecords",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    27: "WriteTxnMarkers",
    28: "TxnOffsetCommit",
    29: "DescribeAcls",
    30: "CreateAcls",
    31: "DeleteAcls",
    32: "DescribeConfigs",
    33: "AlterConfigs",
    34: "AlterReplicaLogDirs",
    35: "DescribeLogDirs",
    36: "SaslAuthenticate",
    37: "CreatePartitions",
    38: "CreateDelegationToken",
    39: "RenewDelegationToken",
    40: "ExpireDelegationToken",
    41: "DescribeDelegationToken",
    42: "DeleteGroups",
    43: "ElectLeaders",
    44: "IncrementalAlterConfigs",
    45: "AlterPartitionReassignments",
    46: "ListPartitionReassignments",
    47: "OffsetDelete",
    48: "DescribeClientQuotas",
    49: "AlterClientQuotas",
    50: "DescribeUserScramCredentials",
    51: "AlterUserScramCredentials",
    52: "Vote",
    53: "BeginQuorumEpoch",
    54: "EndQuorumEpoch",
    55: "DescribeQuorum",
    56: "AlterPartition",
    57: "UpdateFeatures",
    58: "Envelope",
    59: "FetchSnapshot",
    60: "DescribeCluster",
    61: "DescribeProducers",
    62: "BrokerRegistration",
    63: "BrokerHeartbeat",
    64: "UnregisterBroker",
    65: "DescribeTransactions",
    66: "ListTransactions",
    67: "AllocateProducerIds",
    68: "ConsumerGroupHeartbeat",
    69: "ConsumerGroupDescribe",
    70: "ControllerRegistration",
    71: "GetTelemetrySubscriptions",
    72: "PushTelemetry",
    73: "AssignReplicasToDirs",
    74: "ListClientMetricsResources",
    75: "DescribeTopicPartitions",
    76: "ShareGroupHeartbeat",
    77: "ShareGroupDescribe",
    78: "ShareFetch",
    79: "ShareAcknowledge",
    80: "AddRaftVoter",
    81: "RemoveRaftVoter",
    82: "UpdateRaftVoter",
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
}

_CONTROLLED_SHUTDOWN = 7
API_VERSIONS_KEY = 18


def request_type(key: int) -> type[Message]:
    return _message_type(key, "Request")


def response_type(key: int) -> type[Message]:
    return _message_type(key, "Response")


def request_header_version(key: int, version: int) -> int:
    if key == _CONTROLLED_SHUTDOWN and version == 0:
        return 0  # the one request older than the client id
    return 2 if request_type(key).is_flexible(version) else 1


def response_header_version(key: int, version: int) -> int:
    if key == API_VERSIONS_KEY:
        return 0  # a client must be able to read it before it knows what the broker speaks
    return 1 if response_type(key).is_flexible(version) else 0


def module_name(api_name: str) -> str:
    """`DescribeLogDirs` lives in `describe_log_dirs`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", api_name).lower()


@cache
def _message_type(key: int, side: str) -> type[Message]:
    name = API_NAMES.get(key)
    if name is None:
        raise ProtocolError(
            f"there is no API with key {key}",
            reading=f"{side.lower()} header",
            path="request_api_key",
            offset=0 if side == "Request" else None,  # a response does not say what it answers
            code=ErrorCode.UNSUPPORTED_VERSION,
        )
    module = import_module(f"ottla.protocol.apis.{module_name(name)}")
    found: type[Message] = getattr(module, name + side)
    return found
