"""What every request of the controller is checked for, and remembered of it."""

from __future__ import annotations

from ottla.handlers.services import Services
from ottla.protocol.errors import ErrorCode, KafkaError

_UNKNOWN_EPOCH = -1


def check_controller(services: Services, controller_epoch: int, broker_epoch: int) -> None:
    """Refuses controllers that were followed by another, and what was meant for our last life."""
    known = services.replicas.controller_epoch
    if controller_epoch < known:
        detail = f"the controller of epoch {controller_epoch} was followed by that of {known}"
        raise KafkaError(ErrorCode.STALE_CONTROLLER_EPOCH, detail)
    if broker_epoch != _UNKNOWN_EPOCH and broker_epoch < services.broker_epoch():
        detail = f"broker epoch {broker_epoch} is over, now is {services.broker_epoch()}"
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, detail)
    services.replicas.controller_epoch = controller_epoch
