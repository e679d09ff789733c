"""The list of APIs: looked up by key and name, with a word for those who mistype."""

from __future__ import annotations

import pytest

from ottla.cli.apis import all_apis, find_api, matching_apis, unknown_api


def test_every_api_says_what_it_is_for() -> None:
    assert [api.name for api in all_apis() if not api.meaning] == []


@pytest.mark.parametrize("word", ["Fetch", "fetch", "FETCH", "1"])
def test_an_api_is_found_by_its_whole_name_or_key(word: str) -> None:
    found = find_api(word)
    assert found is not None
    assert (found.key, found.name) == (1, "Fetch")


@pytest.mark.parametrize("word", ["Fetc", "88", "", "-1"])
def test_part_of_a_name_is_not_enough(word: str) -> None:
    assert find_api(word) is None


def test_a_list_is_searched_by_part_of_a_name_or_a_whole_key() -> None:
    assert [api.key for api in matching_apis("heartb")] == [12, 63, 68, 76]
    assert [api.name for api in matching_apis("1")] == ["Fetch"]


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("Heratbeat", "Did you mean Heartbeat"),
        ("coordinator", "Did you mean FindCoordinator?"),
        ("Xyzzy", "`ottla protocol apis` lists all"),
        ("88", "the keys are 0 to 87"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(word: str, advice: str) -> None:
    assert word in unknown_api(word)
    assert advice in unknown_api(word)


def test_header_versions_are_listed_for_each_version() -> None:
    (shutdown,) = matching_apis("ControlledShutdown")
    assert shutdown.to_json()["request_header_versions"] == [0, 1, 1, 2]
    assert shutdown.to_json()["response_header_versions"] == [0, 0, 0, 1]
