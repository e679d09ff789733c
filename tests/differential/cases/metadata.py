"""Metadata: all versions; topics by name and id, all and none, unknown and impossible."""

from __future__ import annotations

from tests.differential.case import Case, Topic, case
from tests.differential.requests import metadata, metadata_by_id

_TWO = Topic("t", partitions=2)
_LONG = "=" + "x" * 250

CASES: tuple[Case, ...] = (
    *(
        case(
            f"metadata-v{v}",
            metadata(v, "t", "missing"),
            metadata(v, "u", "t"),
            topics=[_TWO, "u"],
        )
        for v in range(13)
    ),
    *(
        case(f"metadata-all-v{v}", metadata(v, everything=True), topics=[_TWO, "u"])
        for v in (0, 1, 4, 9, 12)
    ),
    *(case(f"metadata-none-v{v}", metadata(v)) for v in (1, 9, 12)),
    *(
        case(
            f"metadata-no-auto-create-v{v}",
            metadata(v, "missing", auto_create=False),
            metadata(v, "missing"),
        )
        for v in (4, 8, 12)
    ),
    case("metadata-twice-the-same", metadata(9, "t", "t"), topics=["t"]),
    *(
        case(f"metadata-invalid-names-v{v}", metadata(v, "=bad name", "=.", "=..", "=", _LONG))
        for v in (0, 5, 12)
    ),
    case(
        "metadata-operations",
        *(metadata(v, "t", authorized_operations=True) for v in (8, 10, 11, 12)),
        topics=["t"],
    ),
    case("metadata-by-id", metadata_by_id(12, "t", "u"), topics=[_TWO, "u"]),
    case("metadata-by-unknown-id", metadata_by_id(12, "t", "missing"), topics=["t"]),
    case("metadata-by-zero-id", metadata_by_id(12, "="), metadata(12, "t"), topics=["t"]),
    case("metadata-by-id-and-name", metadata_by_id(12, "t", name="t"), topics=["t"]),
    case("metadata-by-id-too-old", metadata_by_id(10, "t"), metadata_by_id(11, "t"), topics=["t"]),
    case(
        "metadata-id-and-name-mixed",
        metadata_by_id(12, "t"),
        metadata(12, "t", "u"),
        topics=["t", "u"],
    ),
    # They do not exist before a group or a transaction needs them.
    case("metadata-internal", metadata(12, "=__consumer_offsets", auto_create=False)),
)
