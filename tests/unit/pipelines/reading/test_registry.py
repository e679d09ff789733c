"""Registries: asked once, asked again when they are away, and clear about what they lack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.pipelines.reading.registry import (
    AVRO,
    FolderRegistry,
    HttpRegistry,
    Registered,
    RegistryAway,
    RegistryRefused,
    open_registry,
)
from tests.pipelines import registry as for_tests

TEXT = '{"type": "string"}'


@pytest.fixture
def served() -> Iterator[for_tests.Registry]:
    with for_tests.running() as registry:
        yield registry


def test_a_schema_is_asked_for_once_and_an_unknown_one_each_time(
    served: for_tests.Registry,
) -> None:
    id = served.register("views-value", TEXT)
    registry = HttpRegistry(served.url + "/")
    assert registry.schema(id) == registry.schema(id) == Registered(id, AVRO, TEXT.encode())
    assert served.asked == [f"/schemas/ids/{id}"]
    assert registry.schema(99) is None
    served.schemas += [{"schema": TEXT}] * 98
    assert registry.schema(99) is not None


def test_a_process_has_one_registry_of_a_place(tmp_path: Path) -> None:
    assert open_registry("http://localhost:1") is open_registry("http://localhost:1")
    assert isinstance(open_registry(str(tmp_path)), FolderRegistry)


def test_the_latest_of_a_subject_comes_with_what_it_refers_to(served: for_tests.Registry) -> None:
    served.register("a/b", "deepest")
    served.register("middle", "middle", references=[{"name": "d", "subject": "a/b", "version": 1}])
    needs = [
        {"name": "m", "subject": "middle", "version": 1},
        {"name": "d", "subject": "a/b", "version": 1},
    ]
    served.register("views", "old")
    id = served.register("views", "top", schemaType="PROTOBUF", references=needs)
    found = HttpRegistry(served.url).latest("views")
    assert found == Registered(id, "PROTOBUF", b"top", (("d", "deepest"), ("m", "middle")))


def test_a_subject_that_is_not_there_is_refused_with_the_fix(served: for_tests.Registry) -> None:
    with pytest.raises(RegistryRefused, match="no subject 'views': register its schema"):
        HttpRegistry(served.url).latest("views")


def test_registering_what_is_known_gives_the_same_id(served: for_tests.Registry) -> None:
    registry = HttpRegistry(served.url)
    first = registry.register("views-value", kind=AVRO, schema=TEXT)
    assert registry.register("views-value", kind=AVRO, schema=TEXT) == first


def test_a_registry_that_is_away_is_asked_again_and_then_named(
    served: for_tests.Registry,
) -> None:
    waits: list[float] = []
    served.is_away = True
    with pytest.raises(RegistryAway, match=r"registry at http://127.* is away: .*503"):
        HttpRegistry(served.url, wait=waits.append).schema(1)
    assert len(served.asked) == len(waits) + 1 == 4

    def back(_: float) -> None:
        served.is_away = False

    served.is_away = True
    id = served.register("views-value", TEXT)
    assert HttpRegistry(served.url, wait=back).schema(id) is not None


def test_nobody_listening_is_away_too() -> None:
    with pytest.raises(RegistryAway, match="refused"):
        HttpRegistry("http://127.0.0.1:9", wait=lambda _: None).schema(1)


def test_a_login_in_the_url_becomes_a_header(served: for_tests.Registry) -> None:
    url = served.url.replace("http://", "http://me:p%40ss@")
    HttpRegistry(url).schema(1)
    assert served.headers[0]["Authorization"] == "Basic bWU6cEBzcw=="


def test_a_folder_holds_the_versions_of_one_subject(tmp_path: Path) -> None:
    (tmp_path / "2.avsc").write_text('"int"')
    (tmp_path / "10.avsc").write_text(TEXT)
    (tmp_path / "README.md").write_text("no schema")
    registry = FolderRegistry(str(tmp_path))
    assert registry.latest("anything") == Registered(10, AVRO, TEXT.encode())
    assert registry.schema(2) == Registered(2, AVRO, b'"int"')
    assert registry.schema(3) is None
    assert registry.register("anything", kind=AVRO, schema='{"type":"string"}') == 10
    with pytest.raises(RegistryRefused, match="does not have this schema: add it"):
        registry.register("anything", kind=AVRO, schema='"long"')


def test_an_empty_or_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistryRefused, match=r"has no schema: write it to 1\.avsc"):
        FolderRegistry(str(tmp_path)).latest("views")
    with pytest.raises(RegistryRefused, match="neither the URL of a registry nor a folder"):
        FolderRegistry(str(tmp_path / "gone"))
