"""UpdateFeatures (57): finalizes the versions of cluster features."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


class FeatureUpdateKey(Struct):
    feature: str
    max_version_level: Int16
    allow_downgrade: bool = field(until=0, default=False)
    upgrade_type: Int8 = field(since=1, default=1)


@message(key=57, newest=1, flexible_from=0)
class UpdateFeaturesRequest(Message):
    timeout_ms: Int32 = 60_000
    feature_updates: list[FeatureUpdateKey]
    validate_only: bool = field(since=1, default=False)


class UpdatableFeatureResult(Struct):
    feature: str
    error_code: Int16 = 0
    error_message: str | None


@message(key=57, newest=1, flexible_from=0)
class UpdateFeaturesResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    results: list[UpdatableFeatureResult]
