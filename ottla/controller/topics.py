"""What CreateTopics and DeleteTopics do at the active controller: check, then write.

The partitions get their leaders afterwards, by the controller's events; a handler waits for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ottla.controller.context import ControllerContext
from ottla.controller.fence import MOST_OPERATIONS, ControllerMoved, Fence
from ottla.controller.lists import chunks
from ottla.controller.loading import names_below
from ottla.controller.placement import Allowance, Assignment, Candidate, check_manual, place
from ottla.controller.slices import in_slices
from ottla.controller.topic_names import Collisions, check_name, is_name
from ottla.protocol.apis.create_topics import CreatableTopic
from ottla.protocol.apis.delete_topics import DeleteTopicState
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.primitives import ZERO_UUID
from ottla.store import paths
from ottla.store.port import Create, NodeExists, Operation, Write
from ottla.store.znodes import Config, TopicAssignment

# In a request: take the broker's default. Also what a result has when there is no topic.
UNSET = -1


# Told how many partitions are about to change; raises `KafkaError` if that is too many (KIP-599).
Spend = Callable[[int], None]


def unlimited(_partitions: int) -> None:
    """The broker's own changes have no quota."""


class Office(Protocol):
    """The controller; both raise `NOT_CONTROLLER` while another broker is active."""

    @property
    def context(self) -> ControllerContext: ...

    @property
    def fence(self) -> Fence: ...


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """A topic that may be created; `is_manual`: the request said where the replicas go."""

    name: str
    topic_id: bytes
    assignment: Assignment
    configs: dict[str, str]
    is_manual: bool

    @property
    def replication_factor(self) -> int:
        return len(self.assignment[0])


@dataclass(frozen=True, slots=True)
class TopicRules:
    """What the broker's config says about new topics. The checks raise `KafkaError`."""

    check_config: Callable[[str, Mapping[str, str]], None]
    check_policy: Callable[[TopicPlan], None]
    default_partitions: Callable[[], int]
    default_replication_factor: Callable[[], int]
    new_topic_id: Callable[[], bytes]
    draw: Callable[[int], int]  # a random number, from 0 and below this


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """What became of one topic of the request."""

    name: str
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None
    topic_id: bytes = ZERO_UUID
    partitions: int = UNSET
    replication_factor: int = UNSET
    configs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeletedTopic:
    """`name` is None for an id that no topic has."""

    name: str | None
    topic_id: bytes = ZERO_UUID
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None


def live_candidates(context: ControllerContext) -> list[Candidate]:
    live = sorted(context.live_brokers())
    return [Candidate(broker, context.brokers[broker].image.rack) for broker in live]


async def create_topics(
    office: Office,
    topics: Sequence[CreatableTopic],
    rules: TopicRules,
    *,
    validate_only: bool,
    spend: Spend = unlimited,
) -> list[CreatedTopic]:
    """One result for each topic, in the order of the request."""
    marked = await names_below(office.fence, paths.DELETE_TOPICS)
    planner = _Planner(office.context, rules, marked_for_deletion=marked)
    counts = Counter(topic.name for topic in topics)
    results: dict[str, CreatedTopic] = {}
    plans: dict[str, TopicPlan] = {}
    async for topic in in_slices(topics):
        try:
            if counts[topic.name] > 1:
                message = "Found multiple entries for this topic."
                raise KafkaError(ErrorCode.INVALID_REQUEST, message)
            plan = planner.plan(topic)
            if not validate_only:
                spend(len(plan.assignment))
            plans[topic.name] = plan
            results[topic.name] = _created(plan, validate_only=validate_only)
        except KafkaError as refusal:
            results[topic.name] = CreatedTopic(topic.name, refusal.code, refusal.detail or None)
    if not validate_only:
        for name in await _write(office.fence, list(plans.values())):
            results[name] = CreatedTopic(name, ErrorCode.TOPIC_ALREADY_EXISTS, _exists(name))
    return [results[topic.name] for topic in topics]


def _created(plan: TopicPlan, *, validate_only: bool) -> CreatedTopic:
    return CreatedTopic(
        name=plan.name,
        topic_id=ZERO_UUID if validate_only else plan.topic_id,
        partitions=len(plan.assignment),
        replication_factor=plan.replication_factor,
        configs=plan.configs,
    )


def _exists(name: str) -> str:
    return f"Topic '{name}' already exists."


class _Planner:
    """Checks topics in Kafka's order: of several mistakes, a client hears of the same one."""

    def __init__(
        self,
        context: ControllerContext,
        rules: TopicRules,
        *,
        marked_for_deletion: Iterable[str],
    ) -> None:
        self._context = context
        self._rules = rules
        self._marked = set(marked_for_deletion)
        self._collisions = Collisions(context.assignments)
        self._candidates = live_candidates(context)
        self._allowance = Allowance()

    def plan(self, topic: CreatableTopic) -> TopicPlan:
        name = topic.name
        if name in self._context.assignments and name not in self._marked:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, _exists(name))
        configs = _configs(topic)
        assignment = self._assignment(topic)
        check_name(name)
        if name in self._marked:
            message = f"Topic '{name}' is marked for deletion."
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, message)
        self._collisions.check(name)
        check_manual(assignment)
        self._rules.check_config(name, configs)
        plan = TopicPlan(
            name=name,
            topic_id=self._rules.new_topic_id(),
            assignment=assignment,
            configs=configs,
            is_manual=bool(topic.assignments),
        )
        self._rules.check_policy(plan)
        self._collisions.add(name)
        return plan

    def _assignment(self, topic: CreatableTopic) -> Assignment:
        sizes = (topic.num_partitions, topic.replication_factor)
        if topic.assignments:
            if sizes != (UNSET, UNSET):
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST,
                    "Both numPartitions or replicationFactor and replicasAssignments were set. "
                    "Both cannot be used at the same time.",
                )
            return {given.partition_index: tuple(given.broker_ids) for given in topic.assignments}
        partitions, replication_factor = sizes
        if partitions == UNSET:
            partitions = self._rules.default_partitions()
        self._allowance.take(topic.name, partitions)
        if replication_factor == UNSET:
            replication_factor = self._rules.default_replication_factor()
        brokers = max(1, len(self._candidates))
        return place(
            self._candidates,
            partitions=partitions,
            replication_factor=replication_factor,
            start_index=self._rules.draw(brokers),
            shift=self._rules.draw(brokers),
        )


def _configs(topic: CreatableTopic) -> dict[str, str]:
    configs: dict[str, str] = {}
    missing = [config.name for config in topic.configs if config.value is None]
    if missing:
        message = f"Null value not supported for topic configs: {','.join(missing)}"
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    for config in topic.configs:
        configs[config.name] = config.value or ""
    return configs


async def _write(fence: Fence, plans: Sequence[TopicPlan]) -> list[str]:
    """Many topics in one go; the names of those that have come to exist meanwhile."""
    refused: list[str] = []
    for some in chunks(plans, MOST_OPERATIONS // 2):
        try:
            await _fenced(fence, [op for plan in some for op in _creation(plan)])
        except NodeExists:
            refused += [plan.name for plan in some if not await _was_created(fence, plan)]
    return refused


async def _was_created(fence: Fence, plan: TopicPlan) -> bool:
    # A config without a topic is overwritten: somebody has set it before there was a topic.
    has_config = await fence.store.read(_config_path(plan.name)) is not None
    try:
        await _fenced(fence, _creation(plan, has_config=has_config))
    except NodeExists:
        return False
    return True


def _creation(plan: TopicPlan, *, has_config: bool = False) -> list[Operation]:
    """The config comes first: whoever sees the topic must find its config."""
    data = Config(plan.configs).encode()
    path = _config_path(plan.name)
    config: Operation = Write(path, data) if has_config else Create(path, data)
    replicas = {partition: plan.assignment[partition] for partition in sorted(plan.assignment)}
    assignment = TopicAssignment(replicas=replicas, topic_id=plan.topic_id)
    return [config, Create(paths.topic(plan.name), assignment.encode())]


def _config_path(topic: str) -> str:
    return paths.config(f"topics/{topic}")


async def _fenced(fence: Fence, operations: Sequence[Operation]) -> None:
    try:
        await fence.multi(operations)
    except ControllerMoved as moved:
        raise KafkaError(ErrorCode.NOT_CONTROLLER, str(moved)) from moved


async def delete_topics(
    office: Office, topics: Sequence[DeleteTopicState], *, spend: Spend = unlimited
) -> list[DeletedTopic]:
    """By name or by id. A topic that is being deleted already is no mistake."""
    results = [_affordable(office, await _deletable(office, topic), spend) for topic in topics]
    names = [r.name for r in results if r.code is ErrorCode.NONE and r.name is not None]
    for some in chunks(dict.fromkeys(names), MOST_OPERATIONS):
        operations = [Create(paths.delete_topic(name), b"") for name in some]
        try:
            await _fenced(office.fence, operations)
        except NodeExists:
            for operation in operations:
                if await office.fence.store.read(operation.path) is None:
                    await _fenced(office.fence, [operation])
    return results


def _affordable(office: Office, topic: DeletedTopic, spend: Spend) -> DeletedTopic:
    if topic.code is not ErrorCode.NONE:
        return topic
    try:
        spend(len(office.context.assignments.get(topic.name or "", ())))
    except KafkaError as refusal:
        return replace(topic, code=refusal.code, message=refusal.detail or None)
    return topic


async def _deletable(office: Office, topic: DeleteTopicState) -> DeletedTopic:
    if topic.topic_id != ZERO_UUID:
        if topic.name is not None:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, "Topic name and topic ID can not both be specified."
            )
        name = office.context.topic_names.get(topic.topic_id)
        code = ErrorCode.NONE if name else ErrorCode.UNKNOWN_TOPIC_ID
        return DeletedTopic(name, topic.topic_id, code)
    name = topic.name or ""
    is_known = name in office.context.assignments
    # A topic so new that its event waits still counts. A name that is no name has no node.
    if not is_known and is_name(name):
        is_known = await office.fence.store.read(paths.topic(name)) is not None
    code = ErrorCode.NONE if is_known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DeletedTopic(topic.name, ZERO_UUID, code)
