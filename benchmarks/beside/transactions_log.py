"""A log of ten thousand transactional ids that both brokers load."""

from __future__ import annotations

import time
from itertools import count, islice
from pathlib import Path
from statistics import median

from benchmarks.beside.admin import Admin
from benchmarks.beside.bench import empty_folder, started
from benchmarks.beside.rows import Row, below
from benchmarks.beside.table import Figures
from benchmarks.beside.targets import Target
from ottla.coordinators.batch import build_coordinator_batch
from ottla.coordinators.effects import Record
from ottla.coordinators.groups.java_hash import partition_of
from ottla.coordinators.transactions.records import (
    TransactionValue,
    transaction_key,
    transaction_value,
)
from ottla.coordinators.transactions.state import TransactionState
from ottla.protocol.apis.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import patch_batch, read_header

PARTITION, PARTITIONS = 7, 50
IDS = 10_000
LABEL = "10,000 transactional ids loaded"
ROWS = (Row(f"{LABEL}, from start", "s"), Row(f"{LABEL}, after start", "s", below(2)))
_TIMEOUT_S = 120
_TRANSACTION = 1
_READY = (ErrorCode.NONE, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
# What one transaction leaves there, each in a batch of its own.
_LIFE = (
    TransactionState.EMPTY,
    TransactionState.ONGOING,
    TransactionState.PREPARE_COMMIT,
    TransactionState.COMPLETE_COMMIT,
)


def names(wanted: int) -> list[str]:
    """Those that belong to one partition of the log."""
    found = (f"transactional-{number:06}" for number in count())
    return list(islice((n for n in found if partition_of(n, PARTITIONS) == PARTITION), wanted))


def load(target: Target, passes: int, *, scale: float) -> Figures:
    """Lives on one folder: the first creates the log, the second indexes it, all others count."""
    ids = names(max(1, int(IDS * scale)))
    with empty_folder() as folder:
        with started(target, folder, scale=scale) as bench:
            _wait_until_loaded(bench.admin, ids[0])
        place = folder / "data" / f"__transaction_state-{PARTITION}"
        for file in place.glob("0*"):
            file.unlink()
        _write(place / f"{0:020}.log", ids)
        lives = [_life(target, folder, ids, scale) for _ in range(passes + 1)][1:]
    figures = [median(each) for each in zip(*lives, strict=True)]
    return dict(zip((row.label for row in ROWS), figures, strict=True))


def _life(target: Target, folder: Path, ids: list[str], scale: float) -> tuple[float, float]:
    with started(target, folder, scale=scale) as bench:
        answered = time.perf_counter()
        took_s = _wait_until_loaded(bench.admin, ids[0]) - answered
        _expect_all(bench.admin, ids)
        return bench.running.start_s + took_s, took_s


def _expect_all(admin: Admin, ids: list[str]) -> None:
    request = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # other partitions, which are empty
    while (answer := admin.ask(request, 0, ListTransactionsResponse)).error_code == loading:
        pass
    listed = sorted(each.transactional_id for each in answer.transaction_states)
    assert listed == ids, f"{len(listed)} of {len(ids)} are listed"


def _wait_until_loaded(admin: Admin, name: str) -> float:
    """When it first told of that id, by `time.perf_counter`."""
    give_up = time.perf_counter() + _TIMEOUT_S
    request = DescribeTransactionsRequest(transactional_ids=[name])
    finding = FindCoordinatorRequest(key=name, key_type=_TRANSACTION)
    while (now := time.perf_counter()) < give_up:
        [found] = admin.ask(request, 0, DescribeTransactionsResponse).transaction_states
        if found.error_code in _READY:
            return now
        admin.ask(finding, 2, FindCoordinatorResponse)  # which creates the log
    raise TimeoutError(f"no coordinator of {name} after {_TIMEOUT_S} s")


def _write(file: Path, ids: list[str]) -> None:
    now_ms = int(time.time() * 1000)  # older ones would expire
    offset = 0
    with file.open("wb") as out:
        for state in _LIFE:
            partitions = (("benchmark", 0),) if state.name.endswith(("ONGOING", "COMMIT")) else ()
            for number, name in enumerate(ids):
                value = TransactionValue(number, 0, 60_000, state, partitions, now_ms, now_ms)
                record = Record(transaction_key(name), transaction_value(value))
                batch = bytearray(build_coordinator_batch([record], timestamp=now_ms))
                head = read_header(batch)
                patch_batch(memoryview(batch), head, base_offset=offset, leader_epoch=0)
                out.write(batch)
                offset += 1
