"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.apis import alter_configs as whole
from ottla.protocol.apis import incremental_alter_configs as incremental
from ottla.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.differential.case import Case, Step, Topic, World, case, step
from tests.differential.requests import never_answered

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
ODD_TYPES = (0, 1, 3, 33, 64, 127, -1)
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
Change = tuple[str, int, str | None]


def describe(
    version: int,
    *resources: tuple[int, str],
    keys: Sequence[str] | None = None,
    synonyms: bool = False,
    documentation: bool = False,
) -> Step:
    return step(
        DescribeConfigsRequest,
        version,
        lambda world: DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(
                    resource_type=kind,
                    resource_name=_name(world, kind, name),
                    configuration_keys=None if keys is None else list(keys),
                )
                for kind, name in resources
            ],
            include_synonyms=synonyms,
            include_documentation=documentation,
        ),
    )


def _name(world: World, kind: int, name: str) -> str:
    return world.name(name) if kind == TOPIC else name


def alter(
    version: int,
    *resources: tuple[int, str, dict[str, str | None]],
    validate_only: bool = False,
) -> Step:
    """Everything that is not named goes back to its default."""
    return step(
        whole.AlterConfigsRequest,
        version,
        lambda world: whole.AlterConfigsRequest(
            resources=[
                whole.AlterConfigsResource(
                    resource_type=kind,
                    resource_name=_name(world, kind, name),
                    configs=[whole.AlterableConfig(name=k, value=v) for k, v in configs.items()],
                )
                for kind, name, configs in resources
            ],
            validate_only=validate_only,
        ),
    )


def change(
    version: int,
    *resources: tuple[int, str, Sequence[Change]],
    validate_only: bool = False,
) -> Step:
    return step(
        incremental.IncrementalAlterConfigsRequest,
        version,
        lambda world: incremental.IncrementalAlterConfigsRequest(
            resources=[
                incremental.AlterConfigsResource(
                    resource_type=kind,
                    resource_name=_name(world, kind, name),
                    configs=[
                        incremental.AlterableConfig(name=k, config_operation=operation, value=v)
                        for k, operation, v in changes
                    ],
                )
                for kind, name, changes in resources
            ],
            validate_only=validate_only,
        ),
    )


T = (TOPIC, "t")
SHOWN = describe(4, T, keys=["cleanup.policy", "retention.ms", "segment.bytes"], synonyms=True)
_SET = Topic("t", configs={"cleanup.policy": "compact", "segment.bytes": "3000000"})

_DESCRIBE = (
    *(case(f"describe-configs-topic-v{v}", describe(v, T), topics=[_SET]) for v in range(5)),
    case("describe-configs-synonyms", describe(4, T, synonyms=True), topics=[_SET]),
    case("describe-configs-documentation",
         describe(3, T, keys=["retention.ms"], documentation=True), topics=["t"]),
    case("describe-configs-keys", SHOWN, describe(4, T, keys=[]),
         describe(4, T, keys=["no.such", "retention.ms"]), topics=[_SET]),
    case("describe-configs-unknown-topic", describe(4, (TOPIC, "missing")),
         describe(0, (TOPIC, "missing"))),
    case("describe-configs-invalid-topic", describe(4, (TOPIC, "=no name"), (TOPIC, "="))),
    case("describe-configs-broker", describe(4, (BROKER, "0"))),
    case("describe-configs-broker-v0", describe(0, (BROKER, "0"))),
    case("describe-configs-broker-keys", describe(
        4, (BROKER, "0"), keys=["log.retention.ms", "broker.id", "log.segment.bytes"],
        synonyms=True)),
    case("describe-configs-broker-default", describe(4, (BROKER, ""))),
    case("describe-configs-other-broker", describe(4, (BROKER, "7"))),
    case("describe-configs-broker-no-number", describe(4, (BROKER, "zero"))),
    case("describe-configs-logger-keys",
         describe(4, (BROKER_LOGGER, "0"), keys=["no.such.logger"])),
    case("describe-configs-unknown-type", describe(4, (3, "t"), (99, "t"))),
    case("describe-configs-group", describe(4, (GROUP, "g"))),
    *(
        case(f"describe-configs-client-metrics-v{v}",
             describe(v, (CLIENT_METRICS, "m"), keys=["interval.ms"]),
             describe(v, (CLIENT_METRICS, "m")), describe(v, (CLIENT_METRICS, "")))
        for v in (0, 4)
    ),
    case("describe-configs-types", *(describe(4, (kind, "x")) for kind in ODD_TYPES),
         describe(0, (ODD_TYPES[0], "x"))),
    case("describe-configs-known-and-unknown-types",
         *(describe(4, (kind, "x"), T, (BROKER, "0"), keys=["retention.ms"])
           for kind in (CLIENT_METRICS, GROUP, 99)),
         describe(4, (CLIENT_METRICS, ""), T, keys=["retention.ms"]),
         describe(4, T, (CLIENT_METRICS, "m"), (GROUP, "g"), keys=["retention.ms"]),
         topics=["t"]),
    case("describe-configs-twice", describe(4, T, T, keys=["retention.ms"]), topics=["t"]),
    case("describe-configs-nothing", describe(4)),
)  # fmt: skip
_ALTER = (
    *(
        case(f"alter-configs-v{v}", alter(v, (TOPIC, "t", {"retention.ms": "1000"})), SHOWN,
             topics=[_SET])
        for v in range(3)
    ),
    case("alter-configs-clear", alter(2, (TOPIC, "t", {})), SHOWN, topics=[_SET]),
    case("alter-configs-validate",
         alter(2, (TOPIC, "t", {"retention.ms": "1000"}), validate_only=True), SHOWN,
         topics=[_SET]),
    case("alter-configs-unknown-topic", alter(2, (TOPIC, "missing", {"retention.ms": "1"}))),
    case("alter-configs-unknown-key", alter(2, (TOPIC, "t", {"no.such": "1"})), SHOWN,
         topics=[_SET]),
    case("alter-configs-bad-value", alter(2, (TOPIC, "t", {"retention.ms": "soon"})),
         alter(2, (TOPIC, "t", {"cleanup.policy": "burn"})),
         alter(2, (TOPIC, "t", {"segment.bytes": "3"})), SHOWN, topics=[_SET]),
    case("alter-configs-null-value", alter(2, (TOPIC, "t", {"retention.ms": None})),
         topics=[_SET]),
    case("alter-configs-twice-in-one",
         never_answered(alter(2, (TOPIC, "t", {"retention.ms": "1"}),
                              (TOPIC, "t", {"retention.ms": "2"}))),
         topics=["t"]),
    case("alter-configs-unknown-type", alter(2, (99, "t", {"retention.ms": "1"}))),
    case("alter-configs-client-metrics", alter(2, (CLIENT_METRICS, "m", {"interval.ms": "1000"})),
         alter(2, (CLIENT_METRICS, "", {})),
         alter(2, (CLIENT_METRICS, "m", {}), validate_only=True)),
    case("alter-configs-group", alter(2, (GROUP, "g", {"x": "1"})), alter(0, (GROUP, "g", {}))),
    case("alter-configs-types", *(alter(2, (kind, "x", {"y": "1"})) for kind in ODD_TYPES)),
    case("alter-configs-logger", alter(2, (BROKER_LOGGER, "0", {"kafka.server": "DEBUG"}))),
    case("alter-configs-other-broker", alter(2, (BROKER, "7", {"log.retention.ms": "1"}))),
    case("alter-configs-broker-read-only", alter(2, (BROKER, "0", {"broker.id": "5"}))),
    case("alter-configs-nothing", alter(2)),
)  # fmt: skip
_CHANGE = (
    *(
        case(f"change-configs-v{v}",
             change(v, (TOPIC, "t", [("retention.ms", SET, "1000"),
                                     ("segment.bytes", DELETE, None)])),
             SHOWN, topics=[_SET])
        for v in range(2)
    ),
    case("change-configs-append",
         change(1, (TOPIC, "t", [("cleanup.policy", APPEND, "delete")])), SHOWN,
         change(1, (TOPIC, "t", [("cleanup.policy", APPEND, "delete")])), SHOWN,
         change(1, (TOPIC, "t", [("cleanup.policy", SUBTRACT, "compact")])), SHOWN,
         topics=[_SET]),
    case("change-configs-append-to-no-list",
         change(1, (TOPIC, "t", [("retention.ms", APPEND, "5")])),
         change(1, (TOPIC, "t", [("retention.ms", SUBTRACT, "5")])), topics=["t"]),
    case("change-configs-unknown-operation",
         change(1, (TOPIC, "t", [("retention.ms", 9, "5")])), topics=["t"]),
    case("change-configs-twice-one-key",
         change(1, (TOPIC, "t", [("retention.ms", SET, "5"), ("retention.ms", SET, "6")])),
         SHOWN, topics=["t"]),
    case("change-configs-null-value",
         change(1, (TOPIC, "t", [("retention.ms", SET, None)])), topics=["t"]),
    case("change-configs-empty-value",
         change(1, (TOPIC, "t", [("cleanup.policy", SET, "")])), SHOWN, topics=["t"]),
    case("change-configs-delete-unset",
         change(1, (TOPIC, "t", [("retention.ms", DELETE, None)])), SHOWN, topics=["t"]),
    case("change-configs-bad-value",
         change(1, (TOPIC, "t", [("retention.ms", SET, "x")])),
         change(1, (TOPIC, "t", [("no.such", SET, "1")])), SHOWN, topics=["t"]),
    case("change-configs-validate",
         change(1, (TOPIC, "t", [("retention.ms", SET, "7")]), validate_only=True), SHOWN,
         topics=["t"]),
    case("change-configs-unknown-topic",
         change(1, (TOPIC, "missing", [("retention.ms", SET, "7")]))),
    case("change-configs-twice-one-topic",
         change(1, (TOPIC, "t", [("retention.ms", SET, "7")]),
                (TOPIC, "t", [("retention.ms", SET, "8")])), topics=["t"]),
    case("change-configs-two-topics",
         change(1, (TOPIC, "t", [("retention.ms", SET, "7")]),
                (TOPIC, "missing", [("retention.ms", SET, "8")])), SHOWN, topics=["t"]),
    case("change-configs-broker",
         change(1, (BROKER, "0", [("log.cleaner.threads", SET, "1")])),
         change(1, (BROKER, "0", [("log.cleaner.threads", DELETE, None)]))),
    case("change-configs-broker-read-only",
         change(1, (BROKER, "0", [("zookeeper.connect", SET, "x")])),
         change(1, (BROKER, "", [("listeners", SET, "x")]))),
    case("change-configs-broker-unknown",
         change(1, (BROKER, "0", [("no.such", SET, "x")]), validate_only=True)),
    case("change-configs-other-broker",
         change(1, (BROKER, "9", [("log.cleaner.threads", SET, "1")]))),
    case("change-configs-logger",
         change(1, (BROKER_LOGGER, "0", [("no.such.logger", SET, "DEBUG")])),
         change(1, (BROKER_LOGGER, "0", [("kafka.server", SET, "LOUD")]))),
    case("change-configs-group", change(1, (GROUP, "g", [("x", SET, "1")]))),
    case("change-configs-client-metrics",
         change(1, (CLIENT_METRICS, "m", [("interval.ms", SET, "1000")])),
         change(1, (CLIENT_METRICS, "", [])),
         change(0, (CLIENT_METRICS, "m", [("interval.ms", DELETE, None)]), validate_only=True)),
    case("change-configs-types",
         *(change(1, (kind, "x", [("y", SET, "1")])) for kind in ODD_TYPES)),
    *(
        case(f"change-configs-topic-and-type-{kind}",
             change(1, (kind, "x", [("y", SET, "1")]), (TOPIC, "t", [("retention.ms", SET, "7")])),
             alter(2, (kind, "x", {"y": "1"}), (TOPIC, "t", {"retention.ms": "8"})),
             SHOWN, topics=["t"])
        for kind in (CLIENT_METRICS, GROUP, 99)
    ),
    case("change-configs-nothing", change(1), change(1, (TOPIC, "t", [])), topics=["t"]),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_DESCRIBE, *_ALTER, *_CHANGE)
