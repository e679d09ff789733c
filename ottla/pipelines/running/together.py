"""Several pipelines on one session, until they have ended or are told to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.pipelines.running.run import Run, RunFailed

_LOOK_EVERY_S = 0.2


def run_together(
    runs: Sequence[Run], *, stop_asked: Callable[[], bool], on_failure: Callable[[RunFailed], None]
) -> bool:
    """True if all ended well. One that fails leaves the others alone."""
    going = list(runs)
    all_well = True
    is_stopping = False
    while going:
        if stop_asked() and not is_stopping:
            is_stopping = True
            for run in going:
                run.stop()
        ended = []
        for run in going:
            try:
                if run.wait(_LOOK_EVERY_S):
                    ended.append(run)
            except RunFailed as failure:
                all_well = False
                ended.append(run)
                on_failure(failure)
        going = [run for run in going if run not in ended]
    return all_well
