"""What a client may be able to in transactions: words of the roster and the conformance card."""

from __future__ import annotations

COMMIT = "transactions: commit"
ABORT = "transactions: abort"
PARTITIONS = "transactions: over several partitions"
LARGE = "transactions: thousands of records"
READ_COMMITTED = "transactions: read_committed waits, and sees only what is committed, in order"
FENCING = "transactions: the elder of two producers with one id is fenced"
TIMEOUT = "transactions: one that takes too long is aborted"
OFFSETS = "transactions: offsets of a group become visible with the records"
LOOP = "exactly-once loop: members come and go, transactions abort"
STALL = "exactly-once loop: a member stops within a transaction, and is fenced"
CRASH = "exactly-once loop: a member is killed within a transaction"
CHAIN = "exactly-once loop: on what other loops wrote, aborted records between"
GENERATION = "exactly-once loop: fenced by the group's generation (KIP-447)"

ORDER = (
    COMMIT,
    ABORT,
    PARTITIONS,
    LARGE,
    READ_COMMITTED,
    FENCING,
    TIMEOUT,
    OFFSETS,
    LOOP,
    STALL,
    CRASH,
    CHAIN,
    GENERATION,
)
