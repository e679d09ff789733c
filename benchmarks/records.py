"""How much checking and patching a batch costs beside the bare checksum it cannot do without."""

from __future__ import annotations

from crc32c import crc32c

from benchmarks.timing import fastest_us
from ottla.protocol.records.batch import build_batch, patch_batch, read_records, validate_batch
from ottla.protocol.records.record import Record


def batch_of(size_bytes: int) -> bytes:
    """A batch of one record and exactly this size."""
    batch = build_batch([Record(0, 1_700_000_000_000, None, bytes(size_bytes - 75))])
    short = size_bytes - len(batch)
    return build_batch([Record(0, 1_700_000_000_000, None, bytes(size_bytes - 75 + short))])


def measure(size_bytes: int) -> list[float]:
    """Microseconds of the bare checksum, and of validate and patch together."""
    view = memoryview(bytearray(batch_of(size_bytes)))

    def validate_and_patch() -> None:
        header = validate_batch(view)
        patch_batch(view, header, base_offset=42, leader_epoch=7)

    return fastest_us(lambda: crc32c(view), validate_and_patch)


def main() -> None:
    print(f"{'batch':>10} {'crc32c':>10} {'both':>10} {'ratio':>6}  target")
    for size_bytes, target in ((200, 12.0), (1_000_000, 1.5)):
        bare_us, both_us = measure(size_bytes)
        verdict = "met" if both_us <= target * bare_us else "MISSED"
        print(
            f"{size_bytes:>8} B {bare_us:>7.2f} us {both_us:>7.2f} us {both_us / bare_us:>6.1f}"
            f"  at most {target:g}: {verdict}"
        )
    records = [Record(i, 1_700_000_000_000 + i, b"key", bytes(100)) for i in range(1000)]
    batch = build_batch(records)
    build_us, read_us = fastest_us(lambda: build_batch(records), lambda: read_records(batch))
    print(f"a record of 100 B: built in {build_us / 1000:.2f} us, read in {read_us / 1000:.2f} us")


if __name__ == "__main__":
    main()
