"""ApiVersions (18): which requests a broker serves, in which versions."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, field, message


@message(key=18, newest=4, flexible_from=3)
class ApiVersionsRequest(Message):
    client_software_name: str = field(since=3, default="", ignorable=True)
    client_software_version: str = field(since=3, default="", ignorable=True)


class ApiVersion(Struct):
    api_key: Int16
    min_version: Int16
    max_version: Int16


class SupportedFeatureKey(Struct):
    name: str
    min_version: Int16
    max_version: Int16


class FinalizedFeatureKey(Struct):
    name: str
    max_version_level: Int16
    min_version_level: Int16


@message(key=18, newest=4, flexible_from=3)
class ApiVersionsResponse(Message):
    error_code: Int16 = 0
    api_keys: list[ApiVersion]
    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    supported_features: list[SupportedFeatureKey] = field(
        since=3, default=[], tag=0, ignorable=True
    )
    finalized_features_epoch: Int64 = field(since=3, default=-1, tag=1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = field(
        since=3, default=[], tag=2, ignorable=True
    )
    zk_migration_ready: bool = field(since=3, default=False, tag=3, ignorable=True)
