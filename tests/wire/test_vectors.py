"""What Apache Kafka 3.9.1 and 2.0.0 wrote is read and written again, byte for byte."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.wire.cases import judge_file

VECTORS = Path(__file__).parent / "vectors"

# file → kind → how many cases; "skipped" are the unstable ones, which 3.9.1 hides by default.
CASES = {
    "batches": {"batches": 105, "refused batches": 7},
    "captures": {"capture": 610},
    "downconvert": {"down-conversion": 72},
    "headers": {"header": 326},
    "internal": {"internal record": 307},
    "old-captures": {"capture": 152},
    "old-segments": {"segment": 8},
    "requests": {"message": 2180, "skipped": 66},
    "responses": {"message": 2155, "skipped": 72},
    "segments": {"segment": 34},
}


@pytest.mark.parametrize("name", CASES)
def test_every_case_passes(name: str) -> None:
    judgements = list(judge_file(VECTORS / f"{name}.jsonl.gz"))
    failures = [f"{found.name}: {found.problem}" for found in judgements if found.problem]
    assert failures == []
    kinds = Counter("skipped" if found.skipped else found.kind for found in judgements)
    assert kinds == CASES[name]


def test_no_file_of_vectors_is_left_out() -> None:
    assert sorted(path.name for path in VECTORS.glob("*.jsonl*")) == [
        f"{name}.jsonl.gz" for name in CASES
    ]
