"""UpdateFeatures: a cluster with a metadata store has no features to finalize, and says which."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError

_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
_LOWEST_LEVEL = 1  # below it, the feature is to be deleted


def handle_update_features(request: UpdateFeaturesRequest, call: Call) -> UpdateFeaturesResponse:
    call.services.controller.check_active()
    updates = {update.feature: update for update in request.feature_updates}
    return UpdateFeaturesResponse(
        error_message=None,
        results=[
            UpdatableFeatureResult(
                feature=name,
                error_code=ErrorCode.INVALID_REQUEST,
                error_message=_why_not(update),
            )
            for name, update in updates.items()
        ],
    )


def _why_not(update: FeatureUpdateKey) -> str:
    may_lower = update.allow_downgrade or update.upgrade_type in (
        _SAFE_DOWNGRADE,
        _UNSAFE_DOWNGRADE,
    )
    if not may_lower and update.upgrade_type != _UPGRADE:
        return f"{update.upgrade_type} is no type of upgrade; expected 1, 2 or 3"
    if not update.feature:
        return "a feature without a name"
    if update.max_version_level >= _LOWEST_LEVEL:
        return f"this broker does not know the feature {update.feature!r}"
    if not may_lower:
        level = update.max_version_level
        return f"level {level} is below {_LOWEST_LEVEL}; allow a downgrade to delete a feature"
    return f"the feature {update.feature!r} is not finalized, so it cannot be deleted"


def refuse(request: UpdateFeaturesRequest, error: KafkaError) -> UpdateFeaturesResponse:
    return UpdateFeaturesResponse(
        error_code=error.code, error_message=error.detail or None, results=[]
    )
