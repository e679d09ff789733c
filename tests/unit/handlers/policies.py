"""Policies as an operator would write them, to be named in options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class SmallTopics:
    """Topics of at most three partitions, none called after a person."""

    def validate(
        self,
        *,
        topic: str,
        partitions: int,
        replication_factor: int,
        replicas: Mapping[int, Sequence[int]] | None,
        configs: Mapping[str, str],
    ) -> None:
        assert (topic == "placed") == (replicas is not None)
        if partitions > 3:
            raise ValueError(f"{topic} is too large with {partitions} partitions")


class KeepForever:
    def validate(self, *, resource_type: str, name: str, configs: Mapping[str, str | None]) -> None:
        if "retention.ms" in configs and resource_type == "topics":
            raise ValueError(f"{name} is kept")


class Mute:
    """Has nothing to say, so it is none."""


class Careless:
    """Knows the owners of some topics only, and asks for that of any."""

    owners: Mapping[str, str] = {"orders": "sales"}

    def validate(self, *, topic: str = "", name: str = "", **asked: object) -> None:
        assert self.owners[topic or name]


class Unbuildable:
    def __init__(self) -> None:
        raise KeyError("OWNERS_FILE")
