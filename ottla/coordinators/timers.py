"""The timers of one machine, by key. Renewing one, as every heartbeat does, touches no wheel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ottla.timing.timer import Timer
from ottla.timing.wheel import Deadline

Key = tuple[str, ...]


class _Alarm:
    __slots__ = ("deadline", "due_ms", "wall_ms")

    def __init__(self, deadline: Deadline, wall_ms: int) -> None:
        self.deadline = deadline
        self.due_ms = deadline.due_ms  # of the timer, whose time never jumps
        self.wall_ms = wall_ms  # the same moment in the rules' time


class Timers:
    """`on_due(key, now_ms)` is called at the latest time that was set for the key, never before."""

    __slots__ = ("_alarms", "_on_due", "_timer")

    def __init__(self, timer: Timer, on_due: Callable[[Key, int], None]) -> None:
        self._timer = timer
        self._on_due = on_due
        self._alarms: dict[Key, _Alarm] = {}

    def __len__(self) -> int:
        return len(self._alarms)

    def __contains__(self, key: Key) -> bool:
        return key in self._alarms

    def count(self, kind: str) -> int:
        return sum(key[0] == kind for key in self._alarms)

    def set(self, key: Key, *, due_ms: int, now_ms: int) -> None:
        """`now_ms` is when the rules decided: only the difference counts here."""
        alarm = self._alarms.get(key)
        delay_ms = due_ms - now_ms
        if alarm is not None:
            later_ms = self._timer.now_ms() + delay_ms
            if alarm.deadline.due_ms <= later_ms:
                # It stays where it is in the wheel, and looks again when it comes up there.
                alarm.due_ms = later_ms
                alarm.wall_ms = due_ms
                return
            alarm.deadline.cancel()
        deadline = self._timer.call_after(delay_ms, partial(self._look, key))
        self._alarms[key] = _Alarm(deadline, due_ms)

    def cancel(self, key: Key) -> None:
        alarm = self._alarms.pop(key, None)
        if alarm is not None:
            alarm.deadline.cancel()

    def cancel_all(self) -> None:
        for key in list(self._alarms):
            self.cancel(key)

    def _look(self, key: Key) -> None:
        alarm = self._alarms[key]
        left_ms = alarm.due_ms - self._timer.now_ms()
        if left_ms > 0:
            alarm.deadline = self._timer.call_after(left_ms, partial(self._look, key))
            return
        del self._alarms[key]
        self._on_due(key, alarm.wall_ms)
