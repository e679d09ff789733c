"""The versions of a Parquet folder's manifest."""

from __future__ import annotations

from ottla.pipelines.sinks.manifest import Manifest, Part, from_json, together_path


def written(*batches: int) -> Manifest:
    manifest = Manifest()
    for batch in batches:
        manifest = manifest.with_batch(
            f"batch={batch}", rows=10 + batch, app="flow.0", batch=batch, schema="{}"
        )
    return manifest


def test_a_batch_is_there_once_it_is_named() -> None:
    manifest = written(0, 1)
    assert manifest.version == 2
    assert manifest.batches == {"flow.0": 1}
    assert manifest.parts == (Part("batch=0", 10, 0, 1), Part("batch=1", 11, 0, 2))


def test_a_batch_without_rows_is_remembered_and_has_no_part() -> None:
    manifest = Manifest().with_batch("batch=0", rows=0, app="flow.0", batch=0, schema="{}")
    assert manifest.batches == {"flow.0": 0}
    assert manifest.parts == ()


def test_each_app_has_its_own_last_batch() -> None:
    manifest = written(0, 1).with_batch("b", rows=1, app="flow.1", batch=0, schema="{}")
    assert manifest.batches == {"flow.0": 1, "flow.1": 0}


def test_too_many_parts_of_a_level_become_one_of_the_next_with_all_rows() -> None:
    manifest = written(0, 1, 2)
    assert manifest.crowded(4) == ()
    old = manifest.crowded(3)
    together = manifest.with_together(old, path=together_path(old))
    assert together.parts == (Part("together/level=1/since=1", 33, 1, 4),)
    assert together.retired == ("batch=0", "batch=1", "batch=2")
    assert together.batches == manifest.batches


def test_parts_of_other_levels_stay_and_fill_up_in_their_turn() -> None:
    manifest = written(0, 1)
    manifest = manifest.with_together(manifest.crowded(2), path="first")
    manifest = manifest.with_batch("batch=2", rows=1, app="flow.0", batch=2, schema="{}")
    assert manifest.crowded(2) == ()
    manifest = manifest.with_batch("batch=3", rows=1, app="flow.0", batch=3, schema="{}")
    manifest = manifest.with_together(manifest.crowded(2), path="second")
    assert [part.path for part in manifest.crowded(2)] == ["second", "first"]
    assert manifest.retired == ("batch=2", "batch=3")


def test_what_is_tried_again_goes_to_the_same_place_whatever_came_between() -> None:
    manifest = written(0, 1)
    later = manifest.with_batch("batch=2", rows=1, app="flow.0", batch=2, schema="{}")
    assert together_path(manifest.crowded(2)) == together_path(later.crowded(2))


def test_a_manifest_is_read_as_it_was_written() -> None:
    manifest = written(0, 1)
    for each in (manifest, manifest.with_together(manifest.parts, path="x"), Manifest()):
        assert from_json(each.to_json()) == each
