"""The options of `format("ottla")`: the connector's names and meaning, whatever their case."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.pipelines.datasource.offsets import EARLIEST, LATEST
from ottla.pipelines.datasource.options import (
    AtTime,
    AtTimes,
    BadOptions,
    Everywhere,
    PerPlace,
    ReadOptions,
    read_options,
    write_options,
)

LEAST = {"kafka.bootstrap.servers": "b:9092", "subscribe": "orders"}


def parsed(*, streaming: bool = True, **more: str) -> ReadOptions:
    return read_options({**LEAST, **more}, streaming=streaming)


def refusal(*, streaming: bool = True, **more: str) -> str:
    with pytest.raises(BadOptions) as caught:
        parsed(streaming=streaming, **more)
    return str(caught.value)


def test_defaults_are_the_connectors() -> None:
    stream, batch = parsed(), parsed(streaming=False)
    assert stream.start == Everywhere(LATEST)
    assert (batch.start, batch.end) == (Everywhere(EARLIEST), Everywhere(LATEST))
    assert stream.fail_on_data_loss
    assert not stream.include_headers
    assert not stream.only_committed
    assert stream.most_offsets is None
    assert stream.poll_timeout_ms == 120_000


def test_spark_hands_options_over_in_lower_case() -> None:
    found = parsed(maxoffsetspertrigger="40", INCLUDEHEADERS="TRUE", failondataloss="False")
    assert found.most_offsets == 40
    assert found.include_headers
    assert not found.fail_on_data_loss


def test_the_clients_settings_lose_their_prefix() -> None:
    found = read_options(
        {**LEAST, "kafka.isolation.level": "read_committed", "kafka.fetch.max.bytes": "9"},
        streaming=True,
    )
    assert found.only_committed
    assert found.client["fetch.max.bytes"] == "9"
    assert found.bootstrap == "b:9092"


def test_topics_are_named_with_commas_and_spaces() -> None:
    assert parsed(subscribe="a, b ,c").subscription.topics == ("a", "b", "c")


@pytest.mark.parametrize(
    ("option", "value", "attribute", "found"),
    [
        ("subscribePattern", "orders-.*", "pattern", "orders-.*"),
        ("assign", '{"a":[1,0]}', "places", (("a", 1), ("a", 0))),
    ],
)
def test_what_to_read_is_said_in_one_of_three_ways(
    option: str, value: str, attribute: str, found: Any
) -> None:
    options = {"kafka.bootstrap.servers": "b:9092", option: value}
    subscription = read_options(options, streaming=True).subscription
    assert getattr(subscription, attribute) == found


def test_two_ways_at_once_are_refused() -> None:
    assert "not subscribe and subscribePattern" in refusal(subscribePattern=".*")


@pytest.mark.parametrize(
    ("options", "boundary"),
    [
        ({"startingOffsets": "Earliest"}, Everywhere(EARLIEST)),
        ({"startingOffsets": '{"orders":{"0":7,"1":-1}}'},
         PerPlace({("orders", 0): 7, ("orders", 1): LATEST})),
        ({"startingTimestamp": "1700000000000"}, AtTime(1_700_000_000_000)),
        ({"startingOffsetsByTimestamp": '{"orders":{"0":5}}'}, AtTimes({("orders", 0): 5})),
        ({"startingTimestamp": "5", "startingOffsets": "earliest"}, AtTime(5)),
    ],
)  # fmt: skip
def test_a_stream_starts_where_it_is_told(options: dict[str, str], boundary: object) -> None:
    assert read_options({**LEAST, **options}, streaming=True).start == boundary


def test_a_batch_ends_where_it_is_told() -> None:
    assert parsed(streaming=False, endingTimestamp="5").end == AtTime(5)
    found = parsed(streaming=False, endingOffsets='{"orders":{"0":-1}}').end
    assert found == PerPlace({("orders", 0): LATEST})


@pytest.mark.parametrize(
    ("streaming", "option", "value", "why"),
    [
        (False, "startingOffsets", "latest", "a batch read cannot start at the latest"),
        (False, "startingOffsets", '{"orders":{"0":-1}}', "a batch read cannot start at"),
        (False, "endingOffsets", "earliest", "nothing ends at the earliest"),
        (False, "endingOffsets", '{"orders":{"0":-2}}', "nothing ends at the earliest"),
        (True, "endingOffsets", "latest", "endingOffsets: a stream has no end"),
        (True, "endingTimestamp", "5", "endingTimestamp: a stream has no end"),
        (True, "startingOffsets", "soon", "startingOffsets: not of the form"),
        (True, "startingTimestamp", "noon", "startingTimestamp: not milliseconds since 1970: noon"),
        (True, "subscribePattern", "(", "subscribePattern: not a regular expression"),
        (True, "maxOffsetsPerTrigger", "0", "maxOffsetsPerTrigger: must be a number above 0: 0"),
        (True, "minPartitions", "two", "minPartitions: must be a number above 0: two"),
        (True, "failOnDataLoss", "yes", "failOnDataLoss: must be true or false: yes"),
        (True, "startingOffsetsByTimestampStrategy", "first", "must be error or latest: first"),
        (True, "maxTriggerDelay", "soon", "not a duration as 500ms, 30s, 15m or 1h: soon"),
        (True, "kafka.auto.offset.reset", "latest", "say startingOffsets and failOnDataLoss"),
        (True, "kafka.enable.auto.commit", "true", "offsets are kept in the checkpoint"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(
    streaming: bool, option: str, value: str, why: str
) -> None:
    assert why in refusal(streaming=streaming, **{option: value})


def test_an_unknown_option_is_refused_with_the_nearest_known_one() -> None:
    assert refusal(startingOffset="earliest") == (
        "no such option: startingoffset; did you mean startingOffsets?"
    )
    assert refusal(color="red") == "no such option: color"


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(BadOptions) as caught:
        read_options({"includeHeaders": "perhaps"}, streaming=True)
    told = str(caught.value)
    assert "kafka.bootstrap.servers is missing" in told
    assert "one of assign, subscribe or subscribePattern" in told
    assert "includeHeaders: must be true or false" in told


def test_sparks_own_options_are_let_through() -> None:
    parsed(path="", checkpointLocation="somewhere")


@pytest.mark.parametrize(
    ("text", "ms"), [("500", 500), ("500ms", 500), ("30s", 30_000), ("2 h", 7_200_000)]
)
def test_a_wait_has_a_unit(text: str, ms: int) -> None:
    assert parsed(minOffsetsPerTrigger="9", maxTriggerDelay=text).longest_wait_ms == ms


def test_a_sink_takes_a_topic_and_the_clients_settings() -> None:
    found = write_options(
        {"kafka.bootstrap.servers": "b:9092", "topic": "out", "kafka.compression.type": "zstd"}
    )
    assert found.topic == "out"
    assert found.client["compression.type"] == "zstd"


def test_a_sink_refuses_what_only_sources_take_and_transactions() -> None:
    with pytest.raises(BadOptions) as caught:
        write_options({**LEAST, "kafka.transactional.id": "me"})
    assert "no such option: subscribe" in str(caught.value)
    assert "at least once, without transactions" in str(caught.value)
