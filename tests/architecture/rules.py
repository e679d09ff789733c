"""The rules of tidiness: each takes a file and yields the lines that break it, with a word why."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.architecture.source import Source

Offences = Iterator[tuple[int, str]]

# A ratchet: these numbers only go down.
MOST_LINES_IN_A_FILE = 500
MOST_LINES_IN_A_FUNCTION = 50
MOST_COLUMNS = 100

VAGUE_FILES = {"utils", "util", "helpers", "helper", "common", "misc", "base"}
VAGUE_CLASSES = re.compile(r"(Manager|Impl)$|^Abstract")

# What may be used only behind a door, and the files that are its door.
CLOCK = ("ottla/timing/clock.py",)
WORKER = "ottla/storage/cleaning_process.py"  # a process of its own, which nobody can hand a clock
DOORS: dict[str, tuple[str, ...]] = {
    "time.time": CLOCK,
    "time.time_ns": CLOCK,
    "time.monotonic": (*CLOCK, WORKER),
    "time.monotonic_ns": CLOCK,
    "time.thread_time": CLOCK,
    # A task of Spark's has no loop to go back to while a registry is away.
    "time.sleep": ("ottla/pipelines/reading/registry.py",),
    "datetime.datetime.now": (),
    "datetime.datetime.utcnow": (),
    "datetime.datetime.today": (),
    "datetime.date.today": (),
    "random": ("ottla/broker/machine.py",),
    "secrets": (),
    "uuid.uuid1": (),
    "uuid.uuid4": (),
    "os.urandom": (),
}
# A seeded generator is as good as a written example, in tests, simulations and workloads.
SEEDED = "random.Random"

CATCHES_ALL = (
    "ottla/handlers/dispatch.py",
    "ottla/broker/policies.py",  # classes of the operator's, which may fail as they like
    "ottla/network/connection.py",
    "ottla/network/selector.py",  # in the place of the loop's own handler of exceptions
    "ottla/pipelines/loading.py",  # a file of the user's, which may fail as it likes
    "ottla/timing/survival.py",  # what tasks outlive: elsewhere a bug would end the broker
    "ottla/pipelines/running/run.py",  # kept and raised again: Spark hands on only its text
)
LOADS_ON_FIRST_USE = (
    "ottla/protocol/registry.py",
    "ottla/handlers/__init__.py",
    "ottla/broker/policies.py",  # an operator's own classes, named by options
    "ottla/testing/plugin.py",  # pytest loads it for everybody, whether they use it or not
    "ottla/cli/on_demand.py",  # a command costs only its own imports
    "ottla/admin/avro.py",  # an optional dependency
    "ottla/admin/confluent.py",  # likewise
    "ottla/pipelines/sinks/making.py",  # DuckDB only for those who write to it
)
INIT_WITH_CODE = ("ottla/__init__.py", "ottla/handlers/__init__.py")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def long_files(source: Source) -> Offences:
    count = len(source.text.splitlines())
    if count > MOST_LINES_IN_A_FILE:
        yield count, f"{count} lines"


def long_functions(source: Source) -> Offences:
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            if count > MOST_LINES_IN_A_FUNCTION:
                yield node.lineno, f"{node.name} has {count} lines"


def long_lines(source: Source) -> Offences:
    for number, line in enumerate(source.text.splitlines(), 1):
        if len(line) > MOST_COLUMNS:
            yield number, f"{len(line)} columns"


def missing_docstring(source: Source) -> Offences:
    if not ast.get_docstring(source.tree):
        yield 1, "no docstring"


def code_in_init(source: Source) -> Offences:
    if source.stem == "__init__" and source.path not in INIT_WITH_CODE:
        for node in source.tree.body:
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                yield node.lineno, "more than a docstring"


def vague_file_name(source: Source) -> Offences:
    for part in source.path.removesuffix(".py").split("/"):
        if part.removeprefix("test_").lower() in VAGUE_FILES:
            yield 1, f"{part} says nothing"


def vague_class_names(source: Source) -> Offences:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and VAGUE_CLASSES.search(node.name):
            yield node.lineno, node.name


def calls_outside_their_door(source: Source) -> Offences:
    for node, name in source.references():
        if name.startswith(SEEDED) and (
            source.is_in("ottla/simulation")
            or source.is_in("ottla/verify")
            or source.path == "ottla/cli/demo_traffic.py"
            or not source.is_in("ottla")
        ):
            continue
        for banned, doors in DOORS.items():
            used = name == banned or name.startswith(f"{banned}.")
            is_module_itself = name == banned and "." not in banned
            if used and not is_module_itself and source.path not in doors:
                yield source.at(node), name


def broad_excepts(source: Source) -> Offences:
    if source.path in CATCHES_ALL:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and not _passes_on(node):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            for kind in caught:
                if kind is None:
                    yield node.lineno, "bare except"
                elif isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"):
                    yield node.lineno, f"except {kind.id}"


def _passes_on(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def unfiled_todos(source: Source) -> Offences:
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        is_note = token.type == tokenize.COMMENT and re.search(
            r"\b(TODO|FIXME|XXX)\b", token.string
        )
        if is_note and not re.search(r"#\d+", token.string[1:]):
            yield token.start[0], token.string


def iterated_sets(source: Source) -> Offences:
    for node in ast.walk(source.tree):
        iterated: list[ast.expr] = []
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            iterated = [node.iter]
        elif isinstance(node, ast.Call) and _keeps_order(node.func):
            iterated = node.args
        elif isinstance(node, ast.Starred):
            iterated = [node.value]
        for found in filter(_is_set, iterated):
            yield source.at(found), "a set has no order"


def _keeps_order(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr == "join"
    return isinstance(function, ast.Name) and function.id in ("list", "tuple", "iter", "enumerate")


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")
    return isinstance(node, ast.Set | ast.SetComp)


def relative_imports(source: Source) -> Offences:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "from " + "." * node.level


def imports_inside_functions(source: Source) -> Offences:
    if source.path in LOADS_ON_FIRST_USE:
        return
    for function in ast.walk(source.tree):
        if isinstance(function, Function):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node.lineno, f"import in {function.name}"
    for node, name in source.references():
        if name == "importlib.import_module":
            yield source.at(node), name


def dataclasses_on_the_wire(source: Source) -> Offences:
    if source.is_in("ottla/protocol/apis"):
        for node in ast.walk(source.tree):
            imported = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                imported = [node.module or ""]
            if "dataclasses" in imported:
                yield source.at(node), "dataclasses"


# Put together here, so that this file does not name them either.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("crates", "io"),
        ("golang", "org"),
        ("maven", "org"),
        ("maven", "apache", "org"),
        ("debian", "org"),
    )
]
PLACES = re.compile(
    # Go's own modules are named after its host with /x/: a name in go.mod, not an address.
    f"(?:{'|'.join(re.escape(host) for host in REGISTRIES)})(?!/x/)"
    + r"|(?<![\w.~/-])/(?:work|root|home/\w+|Users/\w+)/"
    + r"|--(?:extra-)?index"
    + "-url"
)


def named_places(text: str) -> Offences:
    """Addresses of package registries and paths of one machine; for any text, not only Python."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := PLACES.search(line):
            yield number, found.group()
