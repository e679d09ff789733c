"""Two answers are compared by what names their parts, and a difference is said where it is."""

from __future__ import annotations

from ottla.protocol.apis.init_producer_id import InitProducerIdResponse
from ottla.protocol.apis.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from tests.differential.asking import TIMED_OUT
from tests.differential.case import World, case
from tests.differential.cases.cluster import api_versions
from tests.differential.comparison import ABSENT, Difference, differences
from tests.differential.normal import Normal
from tests.differential.requests import fetch
from tests.differential.run import compare


def test_equal_answers_do_not_differ() -> None:
    assert list(differences({"a": [1, {"name": "x"}]}, {"a": [1, {"name": "x"}]})) == []


def test_a_difference_is_named_by_the_part_it_is_in() -> None:
    kafka = {"topics": [{"name": "t", "partitions": [{"partitionIndex": 1, "offset": 5}]}]}
    other = {"topics": [{"name": "t", "partitions": [{"partitionIndex": 1, "offset": 6}]}]}
    found = list(differences(kafka, other))
    assert found == [Difference("topics.[t].partitions.[1].offset", 5, 6)]


def test_a_part_that_only_one_has_is_absent_from_the_other() -> None:
    found = list(differences({"apiKeys": [{"apiKey": 68}]}, {"apiKeys": []}))
    assert found == [Difference("apiKeys.[68]", {"apiKey": 68}, ABSENT)]


def test_an_answer_instead_of_a_closed_connection_differs() -> None:
    assert list(differences("closed", {"answer": {}})) == [Difference("", "closed", {"answer": {}})]


def test_names_and_addresses_of_a_run_do_not_count() -> None:
    world = World("d1f-case-")
    topic = MetadataResponseTopic(name="d1f-case-t", partitions=[])
    foreign = MetadataResponseTopic(name="d2e-other-t", partitions=[])
    broker = MetadataResponseBroker(node_id=0, host="10.0.0.1", port=9)
    answer = MetadataResponse(brokers=[broker], topics=[foreign, topic])
    plain = Normal(world).answer(answer, 0)
    assert plain["brokers"] == [{"nodeId": 0, "host": "<host>", "port": "<port>"}]
    assert [each["name"] for each in plain["topics"]] == ["t"]


def test_equal_ids_stay_equal_and_others_apart() -> None:
    normal = Normal(World("d0-"))
    ids = [
        normal.answer(InitProducerIdResponse(producer_id=number, producer_epoch=0), 4)["producerId"]
        for number in (2000, 7, 2000, -1)
    ]
    assert ids == ["<producer 1>", "<producer 2>", "<producer 1>", -1]


def test_what_is_meant_to_differ_is_not_reported() -> None:
    asked = case("x", api_versions(3), fetch(4))
    kafka = [
        ("", {"answer": {"apiKeys": [{"apiKey": 1}, {"apiKey": 68}]}}),
        ("", TIMED_OUT),
    ]
    other = [{"answer": {"apiKeys": [{"apiKey": 1}]}}, {"answer": {}}]
    assert compare(asked, kafka, other) == []
    without_fetch = [{"answer": {"apiKeys": []}}, {"answer": {}}]
    (line,) = compare(asked, kafka, without_fetch)
    assert "answer.apiKeys.[1]" in line
