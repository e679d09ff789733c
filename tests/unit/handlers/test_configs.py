"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs, against a whole broker."""

from __future__ import annotations

import logging

import pytest

from ottla.config.alterations import Operation
from ottla.config.option import ConfigError
from ottla.handlers import HANDLERS
from ottla.handlers.config_target import ResourceType
from ottla.protocol.apis import alter_configs as alter
from ottla.protocol.apis import incremental_alter_configs as incremental
from ottla.protocol.apis.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.protocol.apis.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ottla.protocol.errors import ErrorCode
from ottla.store import paths
from ottla.store.znodes import Config
from tests.unit.handlers.one_broker import OneBroker, one_broker, topic
from tests.virtual_time import on_virtual_time

TOPIC, BROKER, LOGGER = ResourceType.TOPIC, ResourceType.BROKER, ResourceType.BROKER_LOGGER
DESCRIBE = 32


async def describe(
    broker: OneBroker,
    resource_type: int,
    name: str,
    *keys: str,
    synonyms: bool = False,
    documentation: bool = False,
    version: int | None = None,
) -> DescribeConfigsResult:
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=resource_type,
                resource_name=name,
                configuration_keys=list(keys) or None,
            )
        ],
        include_synonyms=synonyms,
        include_documentation=documentation,
    )
    return (await broker.ask(request, DescribeConfigsResponse, version)).results[0]


async def described(
    broker: OneBroker, resource_type: int, name: str, key: str
) -> DescribeConfigsResourceResult:
    (found,) = (await describe(broker, resource_type, name, key)).configs
    return found


async def change(
    broker: OneBroker,
    resource_type: int,
    name: str,
    *changes: tuple[str, int, str | None],
    validate_only: bool = False,
) -> incremental.AlterConfigsResourceResponse:
    resource = incremental.AlterConfigsResource(
        resource_type=resource_type,
        resource_name=name,
        configs=[
            incremental.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )
    request = incremental.IncrementalAlterConfigsRequest(
        resources=[resource], validate_only=validate_only
    )
    response = await broker.ask(request, incremental.IncrementalAlterConfigsResponse)
    return response.responses[0]


async def replace(
    broker: OneBroker, resource_type: int, name: str, **values: str | None
) -> alter.AlterConfigsResourceResponse:
    resource = alter.AlterConfigsResource(
        resource_type=resource_type,
        resource_name=name,
        configs=[
            alter.AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in values.items()
        ],
    )
    request = alter.AlterConfigsRequest(resources=[resource], validate_only=False)
    return (await broker.ask(request, alter.AlterConfigsResponse)).responses[0]


async def stored(broker: OneBroker, entity: str) -> dict[str, str]:
    entry = await broker.store.read(paths.config(entity))
    return dict(Config.decode(entry.data, entity).values) if entry else {}


@pytest.mark.parametrize("version", range(HANDLERS[DESCRIBE][1] + 1))
@on_virtual_time
async def test_each_version_tells_of_a_value_what_it_has_room_for(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders", configs={"retention.ms": "1000"})
        answer = await describe(
            broker,
            TOPIC,
            "orders",
            "retention.ms",
            "segment.bytes",
            synonyms=version >= 1,
            documentation=version >= 3,
            version=version,
        )
        found = {each.name: each for each in answer.configs}
        assert {name: each.value for name, each in found.items()} == {
            "retention.ms": "1000",
            "segment.bytes": "1073741824",
        }
        assert found["segment.bytes"].is_default == (version == 0)
        assert found["retention.ms"].config_source == (1 if version else -1)
        assert len(found["retention.ms"].synonyms) >= (1 if version else 0)
        assert bool(found["retention.ms"].documentation) == (version >= 3)


@on_virtual_time
async def test_synonyms_and_documentation_come_when_they_are_asked_for() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        (plain,) = (await describe(broker, TOPIC, "orders", "retention.ms")).configs
        assert (plain.synonyms, plain.documentation) == ([], None)
        all_of_them = await describe(broker, TOPIC, "orders")
        assert len(all_of_them.configs) > 30


@pytest.mark.parametrize(
    ("resource_type", "name", "code"),
    [
        (TOPIC, "nobody", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", ErrorCode.INVALID_REQUEST),
        (BROKER, "two", ErrorCode.INVALID_REQUEST),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST),
        (LOGGER, "", ErrorCode.INVALID_REQUEST),
        (3, "group", ErrorCode.INVALID_REQUEST),
    ],
)
@on_virtual_time
async def test_what_is_not_ours_to_describe_is_refused(
    resource_type: int, name: str, code: ErrorCode
) -> None:
    async with one_broker() as broker:
        answer = await describe(broker, resource_type, name)
        assert (answer.error_code, answer.configs) == (code, [])
        assert answer.error_message


@on_virtual_time
async def test_a_topics_option_is_changed_step_by_step_and_its_log_hears_of_it() -> None:
    async with one_broker() as broker:
        await broker.create("orders", configs={"retention.ms": "1000"})
        log = broker.services.replicas.partitions["orders", 0].local_log()
        answer = await change(
            broker,
            TOPIC,
            "orders",
            ("segment.bytes", Operation.SET, "4000"),
            ("cleanup.policy", Operation.APPEND, "compact"),
        )
        assert answer.error_code == 0, answer.error_message
        expected = {
            "retention.ms": "1000",
            "segment.bytes": "4000",
            "cleanup.policy": "delete,compact",
        }
        assert await stored(broker, "topics/orders") == expected
        await broker.until(lambda: log.config.segment_bytes == 4000)
        assert log.config.compacts
        await change(broker, TOPIC, "orders", ("segment.bytes", Operation.DELETE, None))
        await broker.until(lambda: log.config.segment_bytes == 1024**3)


@on_virtual_time
async def test_two_changes_at_once_both_count() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        # The broker itself is not told of the first before it judges the second.
        await change(broker, TOPIC, "orders", ("segment.bytes", Operation.SET, "4000"))
        await change(broker, TOPIC, "orders", ("retention.ms", Operation.SET, "1"))
        expected = {"segment.bytes": "4000", "retention.ms": "1"}
        assert await stored(broker, "topics/orders") == expected


@on_virtual_time
async def test_altering_the_old_way_unsets_what_is_not_named() -> None:
    async with one_broker() as broker:
        await broker.create("orders", configs={"retention.ms": "1000"})
        assert (await replace(broker, TOPIC, "orders", segment_bytes="4000")).error_code == 0
        assert await stored(broker, "topics/orders") == {"segment.bytes": "4000"}
        refused = await replace(broker, TOPIC, "orders", segment_bytes=None)
        assert refused.error_code == ErrorCode.INVALID_REQUEST


@on_virtual_time
async def test_a_validated_change_is_judged_but_not_made() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        good = ("segment.bytes", Operation.SET, "4000")
        answer = await change(broker, TOPIC, "orders", good, validate_only=True)
        assert answer.error_code == 0
        bad = ("segment.bytes", Operation.SET, "few")
        answer = await change(broker, TOPIC, "orders", bad, validate_only=True)
        assert answer.error_code == ErrorCode.INVALID_CONFIG
        assert await stored(broker, "topics/orders") == {}


@on_virtual_time
async def test_a_broker_is_changed_alone_or_with_all_others() -> None:
    async with one_broker() as broker:
        one = ("log.cleaner.backoff.ms", Operation.SET, "7")
        assert (await change(broker, BROKER, "1", one)).error_code == 0
        every = ("message.max.bytes", Operation.SET, "5000")
        assert (await change(broker, BROKER, "", every)).error_code == 0
        assert await stored(broker, "brokers/1") == {"log.cleaner.backoff.ms": "7"}
        assert await stored(broker, "brokers/<default>") == {"message.max.bytes": "5000"}
        await broker.create("orders")
        config = broker.services.replicas.partitions["orders", 0].local_log().config
        await broker.until(lambda: config.max_message_bytes == 5000)
        found = await described(broker, BROKER, "1", "message.max.bytes")
        assert (found.value, found.config_source) == ("5000", 3)
        found = await described(broker, BROKER, "", "message.max.bytes")
        assert (found.value, found.config_source) == ("5000", 3)


@pytest.mark.parametrize(
    ("resource_type", "name", "key", "code"),
    [
        (BROKER, "2", "message.max.bytes", ErrorCode.INVALID_REQUEST),
        (BROKER, "1", "log.dirs", ErrorCode.INVALID_REQUEST),
        (TOPIC, "nobody", "segment.bytes", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "", "segment.bytes", ErrorCode.INVALID_REQUEST),
        (TOPIC, "orders", "log.segment.bytes", ErrorCode.INVALID_CONFIG),
        (3, "group", "segment.bytes", ErrorCode.INVALID_REQUEST),
    ],
)
@on_virtual_time
async def test_what_may_not_be_changed_is_refused_either_way(
    resource_type: int, name: str, key: str, code: ErrorCode
) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        one = await change(broker, resource_type, name, (key, Operation.SET, "5000"))
        assert (one.error_code, bool(one.error_message)) == (code, True)
        whole = await replace(broker, resource_type, name, **{key.replace(".", "_"): "5000"})
        assert whole.error_code == code


@on_virtual_time
async def test_a_resource_that_is_named_twice_is_changed_neither_way() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        resource = incremental.AlterConfigsResource(
            resource_type=TOPIC, resource_name="orders", configs=[]
        )
        request = incremental.IncrementalAlterConfigsRequest(
            resources=[resource, resource], validate_only=False
        )
        answer = await broker.ask(request, incremental.IncrementalAlterConfigsResponse)
        assert [each.error_code for each in answer.responses] == [ErrorCode.INVALID_REQUEST] * 2


@on_virtual_time
async def test_a_loggers_level_is_set_and_shown() -> None:
    logger = logging.getLogger("tests.a_logger_of_its_own")
    async with one_broker() as broker:
        loud = (logger.name, Operation.SET, "DEBUG")
        assert (await change(broker, LOGGER, "1", loud)).error_code == 0
        assert logger.level == logging.DEBUG
        found = await described(broker, LOGGER, "1", logger.name)
        assert (found.value, found.config_source) == ("DEBUG", 6)
        unknown = (logger.name, Operation.SET, "SHRILL")
        refused = await change(broker, LOGGER, "1", unknown)
        assert refused.error_code == ErrorCode.INVALID_CONFIG
        await change(broker, LOGGER, "1", (logger.name, Operation.DELETE, None))
        assert logger.level == logging.NOTSET


POLICIES = "tests.unit.handlers.policies"


@on_virtual_time
async def test_an_operators_policy_judges_new_topics() -> None:
    option = {"create.topic.policy.class.name": f"{POLICIES}.SmallTopics"}
    async with one_broker(option) as broker:
        request = CreateTopicsRequest(
            topics=[topic("large", 4), topic("small", 3), topic("placed", assignment={0: [1]})]
        )
        results = (await broker.ask(request, CreateTopicsResponse)).topics
        codes = [each.error_code for each in results]
        assert codes == [ErrorCode.POLICY_VIOLATION, ErrorCode.NONE, ErrorCode.NONE]
        assert results[0].error_message == "large is too large with 4 partitions"


@on_virtual_time
async def test_an_operators_policy_judges_changes() -> None:
    option = {"alter.config.policy.class.name": f"{POLICIES}.KeepForever"}
    async with one_broker(option) as broker:
        await broker.create("orders")
        refused = await change(broker, TOPIC, "orders", ("retention.ms", Operation.SET, "1"))
        assert refused.error_code == ErrorCode.POLICY_VIOLATION
        assert refused.error_message == "orders is kept"
        other = await change(broker, TOPIC, "orders", ("segment.ms", Operation.SET, "1"))
        assert other.error_code == 0


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (f"{POLICIES}.Nobody", "Nobody"),
        ("no.such.module.Class", "no.such|No module"),
        ("Plain", "package.module.Class"),
        (f"{POLICIES}.Mute", "no method validate"),
    ],
)
@on_virtual_time
async def test_a_policy_that_cannot_be_used_stops_the_start(path: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        async with one_broker({"create.topic.policy.class.name": path}):
            pass
