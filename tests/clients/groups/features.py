"""What a client's consumers may be able to: the words of the roster and of the conformance card."""

from __future__ import annotations

EAGER = "groups: members come and go (eager)"
COOPERATIVE = "groups: members come and go (cooperative-sticky)"
LISTENER = "groups: rebalance listener"
STATIC = "groups: static members"
FENCING = "groups: the elder of two static members with one id is fenced"
CRASH = "groups: a member is killed"
STALL = "groups: a member stops and comes back"
MAX_POLL = "groups: a member exceeds max.poll.interval.ms"
MIXED = "groups: with members of other clients"
REGEX = "groups: subscription by pattern"
NEW_TOPICS = "groups: new topics join the pattern"
SYNC = "commits: synchronous, per partition, with metadata"
ASYNC = "commits: asynchronous"
STANDALONE = "standalone consumer with commits"
PAUSE = "pause and resume"
SEEK = "seek to an offset"
SEEK_ENDS = "seek to the beginning and to the end"
WAKE = "wake-up from a long poll"

ORDER = (
    EAGER,
    COOPERATIVE,
    LISTENER,
    STATIC,
    FENCING,
    CRASH,
    STALL,
    MAX_POLL,
    MIXED,
    REGEX,
    NEW_TOPICS,
    SYNC,
    ASYNC,
    STANDALONE,
    PAUSE,
    SEEK,
    SEEK_ENDS,
    WAKE,
)
