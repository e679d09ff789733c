"""Every file keeps the rules of tidiness, and every rule is shown to catch what it forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from tests.architecture import rules
from tests.architecture.source import ROOT, Source, parse, repository_files, sources

Rule = Callable[[Source], rules.Offences]


def offenders(rule: Rule, *folders: str) -> list[str]:
    return [
        f"{source.path}:{line}: {why}"
        for source in sources()
        if source.is_in(*folders)
        for line, why in rule(source)
    ]


def expect_none(found: Iterable[str]) -> None:
    listing = "\n".join(found)
    assert not listing, f"\n{listing}"


ALL = ("ottla", "tests", "benchmarks")


def test_no_file_is_longer_than_500_lines() -> None:
    expect_none(offenders(rules.long_files, *ALL))


def test_no_function_is_longer_than_50_lines() -> None:
    expect_none(offenders(rules.long_functions, *ALL))


def test_no_line_is_wider_than_100_columns() -> None:
    expect_none(offenders(rules.long_lines, *ALL))


def test_every_module_says_what_it_owns() -> None:
    expect_none(offenders(rules.missing_docstring, *ALL))


def test_a_folder_holds_its_purpose_and_no_code() -> None:
    expect_none(offenders(rules.code_in_init, *ALL))


def test_a_file_is_named_for_what_is_in_it() -> None:
    expect_none(offenders(rules.vague_file_name, *ALL))


def test_a_class_is_named_for_what_it_is() -> None:
    expect_none(offenders(rules.vague_class_names, *ALL))


def test_time_and_chance_come_in_by_their_doors() -> None:
    expect_none(offenders(rules.calls_outside_their_door, "ottla", "tests"))


def test_only_few_files_catch_everything() -> None:
    expect_none(offenders(rules.broad_excepts, "ottla"))


def test_what_is_left_to_do_has_an_issue_number() -> None:
    expect_none(offenders(rules.unfiled_todos, *ALL))


def test_nothing_depends_on_the_order_of_a_set() -> None:
    expect_none(offenders(rules.iterated_sets, "ottla"))


def test_imports_are_absolute() -> None:
    expect_none(offenders(rules.relative_imports, *ALL))


def test_imports_stand_at_the_top() -> None:
    expect_none(offenders(rules.imports_inside_functions, "ottla"))


def test_messages_are_declared_with_message_and_not_as_dataclasses() -> None:
    expect_none(offenders(rules.dataclasses_on_the_wire, "ottla"))


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    found = []
    for name in repository_files():
        data = (ROOT / name).read_bytes()
        if b"\0" not in data:
            text = data.decode("utf-8", errors="replace")
            found += [f"{name}:{line}: {why}" for line, why in rules.named_places(text)]
    expect_none(found)


def test_the_rules_have_files_to_judge() -> None:
    judged = [source.path for source in sources()]
    assert "ottla/protocol/errors.py" in judged
    assert "tests/architecture/test_tidy.py" in judged
    assert "Makefile" in repository_files()


# One line for each way to break a rule: the rule, the bad code, the line that it must point at.
BAD = [
    (rules.long_files, "x = 1\n" * 501, 501),
    (rules.long_functions, "def f():\n" + "    x = 1\n" * 50, 1),
    (rules.long_functions, "class A:\n    async def f():\n" + "        x = 1\n" * 50, 2),
    (rules.long_lines, "x = 1\ny = " + "1" * 97, 2),
    (rules.missing_docstring, "x = 1", 1),
    (rules.vague_class_names, "class LogManager: ...", 1),
    (rules.vague_class_names, "class LogImpl: ...", 1),
    (rules.vague_class_names, "x = 1\nclass AbstractLog: ...", 2),
    (rules.calls_outside_their_door, "import time\ntime.time()", 2),
    (rules.calls_outside_their_door, "import time as t\nt.monotonic()", 2),
    (rules.calls_outside_their_door, "from time import monotonic\nf = monotonic", 2),
    (rules.calls_outside_their_door, "import time\n\ntime.sleep(1)", 3),
    (rules.calls_outside_their_door, "from datetime import datetime\ndatetime.now()", 2),
    (rules.calls_outside_their_door, "import datetime\ndatetime.datetime.now()", 2),
    (rules.calls_outside_their_door, "import random\nrandom.choice([1])", 2),
    (rules.calls_outside_their_door, "from random import Random\nRandom(1)", 2),
    (rules.calls_outside_their_door, "import uuid\nuuid.uuid4()", 2),
    (rules.calls_outside_their_door, "import os\nos.urandom(8)", 2),
    (rules.broad_excepts, "try:\n    f()\nexcept Exception:\n    pass", 3),
    (rules.broad_excepts, "try:\n    f()\nexcept (OSError, BaseException):\n    pass", 3),
    (rules.broad_excepts, "try:\n    f()\nexcept:\n    pass", 3),
    (rules.unfiled_todos, "x = 1  # " + "TODO later", 1),
    (rules.unfiled_todos, "\n# " + "FIXME", 2),
    (rules.iterated_sets, "for x in {1, 2}:\n    pass", 1),
    (rules.iterated_sets, "for x in set(y):\n    pass", 1),
    (rules.iterated_sets, "z = [x for x in {a for a in b}]", 1),
    (rules.iterated_sets, "z = list(set(y))", 1),
    (rules.iterated_sets, "z = ', '.join(frozenset(y))", 1),
    (rules.iterated_sets, "z = [*{1, 2}]", 1),
    (rules.relative_imports, "from . import wheel", 1),
    (rules.relative_imports, "from ..timing import wheel", 1),
    (rules.imports_inside_functions, "def f():\n    import json", 2),
    (rules.imports_inside_functions, "async def f():\n    from json import dumps", 2),
    (rules.imports_inside_functions, "import importlib\nimportlib.import_module('x')", 2),
]


@pytest.mark.parametrize(("rule", "code", "line"), BAD)
def test_bad_code_is_caught_at_its_line(rule: Rule, code: str, line: int) -> None:
    assert [number for number, _ in rule(parse(code))] == [line]


BAD_PLACES = [
    (rules.code_in_init, "ottla/timing/__init__.py", '"""Time."""\nx = 1', 2),
    (rules.vague_file_name, "ottla/storage/utils.py", "", 1),
    (rules.vague_file_name, "ottla/common/log.py", "", 1),
    (rules.vague_file_name, "tests/unit/test_helpers.py", "", 1),
    (rules.dataclasses_on_the_wire, "ottla/protocol/apis/fetch.py", "import dataclasses", 1),
    (
        rules.dataclasses_on_the_wire,
        "ottla/protocol/apis/fetch.py",
        "from dataclasses import dataclass",
        1,
    ),
]


@pytest.mark.parametrize(("rule", "path", "code", "line"), BAD_PLACES)
def test_a_bad_place_is_caught(rule: Rule, path: str, code: str, line: int) -> None:
    assert [number for number, _ in rule(parse(code, path))] == [line]


GOOD = [
    (rules.long_functions, "ottla/log.py", "def f():\n" + "    x = 1\n" * 49),
    (rules.code_in_init, "ottla/__init__.py", '"""Ottla."""\n__version__ = "1"'),
    (rules.calls_outside_their_door, "ottla/timing/clock.py", "import time\ntime.monotonic()"),
    (rules.calls_outside_their_door, "ottla/log.py", "def time(): ...\nself.time.time()"),
    (rules.calls_outside_their_door, "tests/test_x.py", "import random\nrandom.Random(7).random()"),
    (
        rules.calls_outside_their_door,
        "ottla/simulation/disk.py",
        "import random\ndef f(chance: random.Random): ...",
    ),
    (rules.broad_excepts, "ottla/handlers/dispatch.py", "try:\n  f()\nexcept Exception:\n  pass"),
    (rules.broad_excepts, "ottla/log.py", "try:\n  f()\nexcept Exception:\n  g()\n  raise"),
    (rules.unfiled_todos, "ottla/log.py", "x = 1  # " + "TODO(#12): later\ny = 'TODO'"),
    (rules.iterated_sets, "ottla/log.py", "for x in sorted({1, 2}):\n    y = x in {1, 2}"),
    (
        rules.imports_inside_functions,
        "ottla/protocol/registry.py",
        "import importlib\ndef f():\n    importlib.import_module('x')",
    ),
    (rules.dataclasses_on_the_wire, "ottla/log.py", "from dataclasses import dataclass"),
]


@pytest.mark.parametrize(("rule", "path", "code"), GOOD)
def test_good_code_is_left_alone(rule: Rule, path: str, code: str) -> None:
    assert list(rule(parse(code, path))) == []


@pytest.mark.parametrize(
    "line",
    [
        f"https://{rules.REGISTRIES[0]}/simple",
        f"see {rules.REGISTRIES[-1]}",
        "--index" + "-url x",
        "cd /" + "work/project",
        "(/" + "root/.cache)",
        "'/home/" + "kim/ottla'",
    ],
)
def test_a_place_is_found_in_any_text(line: str) -> None:
    assert [number for number, _ in rules.named_places(f"first\n{line}\n")] == [2]


@pytest.mark.parametrize("line", ["docs/work/plan.md", "https://kafka.apache.org/", "~/work/"])
def test_other_paths_and_addresses_are_no_places(line: str) -> None:
    assert list(rules.named_places(line)) == []
