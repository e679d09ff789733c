"""What commands of pipelines share: a cluster to talk to, and sentences for what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ottla.admin.topics import list_topics
from ottla.cli.connecting import on_cluster
from ottla.cli.failure import fail
from ottla.pipelines.kafka import Cluster, Unreachable
from ottla.pipelines.topic_records import NoSuchTopic
from ottla.pipelines.transactional import Fenced

P = ParamSpec("P")
R = TypeVar("R")


def reach(bootstrap: str) -> Cluster:
    """Or ends the command: our own client knows within a moment that nobody answers."""
    on_cluster(bootstrap, list_topics)
    return Cluster(bootstrap)


def in_sentences(command: Callable[P, R]) -> Callable[P, R]:
    """The command, without a stack trace for what a cluster can do to it."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (NoSuchTopic, Unreachable) as cause:
            fail(f"{cause}.")
        except Fenced as cause:
            fail(f"{cause}. What was done before is noted; look, and run it again.")
        except TimeoutError:
            fail("the cluster did not answer in time.")

    return run
