"""Files and tables into topics, run as pipelines: each row once, over runs and repeats."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from pyspark.sql import DataFrame

from ottla.pipelines.declaration import Pipeline, Source
from ottla.pipelines.declare import files, json, not_null, pipeline, table, topic
from ottla.pipelines.repair.letter_records import from_record
from ottla.pipelines.running.run import RunFailed
from ottla.pipelines.sources import postgres as source
from tests.pipelines.lab import Lab
from tests.pipelines.postgres import Postgres

SHAPE = {"id": "long", "name": "string or null"}


def into_topic(lab: Lab, source: Source) -> Pipeline:
    @pipeline(
        source=source,
        sink=topic(lab.topic("out"), format=json(), key="id"),
        dead_letters=topic(lab.topic("dlq")),
        contract=[not_null("name")],
    )
    def copied(rows: DataFrame) -> DataFrame:
        return rows

    return copied


def ids(lab: Lab) -> list[int]:
    return sorted(row["id"] for row in lab.rows(f"{lab.name}-out"))


def forget_commit(lab: Lab, copied: Pipeline, number: int) -> None:
    """As if the run had died after the sink's commit and before Spark's."""
    commits = Path(lab.state(copied).path) / "generation-0" / "checkpoint" / "commits"
    (commits / f"{number}").unlink()
    (commits / f".{number}.crc").unlink(missing_ok=True)


def test_a_folder_goes_into_a_topic_once_and_its_bad_lines_are_dead_letters(
    lab: Lab, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    copied = into_topic(lab, files(str(folder), SHAPE, format="csv"))
    (folder / "a.csv").write_text("1,one\nx,two\n3,\n4,four\n")
    first = lab.run(copied)
    assert (first.rows_in, first.rows_out, first.dead_letters) == (4, 2, 2)
    forget_commit(lab, copied, 0)
    (folder / "b.csv").write_text("5,five\n")
    lab.run(copied)
    assert ids(lab) == [1, 4, 5]
    letters = [
        from_record(record.key, record.value, record.headers).letter
        for record in lab.records(f"{lab.name}-dlq")
    ]
    found = sorted((letter.offset, letter.value) for letter in letters)
    assert found == [(1, b"x,two"), (2, b'{"id":3}')]


def test_a_table_goes_into_a_topic_once(lab: Lab, postgres: Postgres) -> None:
    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("create table items (id bigserial primary key, name text)")
        database.execute("insert into items (name) values ('a'), (null), ('c')")
        copied = into_topic(lab, table(url, "items", "id", at_once=2))
        lab.run(copied)
        forget_commit(lab, copied, 1)
        database.execute("insert into items (name) values ('d')")
        lab.run(copied)
    assert ids(lab) == [1, 3, 4]
    assert len(lab.records(f"{lab.name}-dlq")) == 1


def test_a_run_that_would_have_to_wait_for_others_says_for_whom(
    lab: Lab, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.database()
    monkeypatch.setattr(source, "_LOOKS_OF_ONE_RUN", 1)
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("create table items (id bigserial primary key, name text)")
        with psycopg.connect(url) as late:
            late.execute("insert into items (name) values ('late')")
            database.execute("insert into items (name) values ('seen')")
            with pytest.raises(RunFailed, match="table items may still get rows before its last"):
                lab.run(into_topic(lab, table(url, "items", "id")))
