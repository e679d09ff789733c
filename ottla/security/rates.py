"""How fast something happens, measured as Kafka 3.9 does: number for number the same.

A rate is a sum over a row of samples, divided by the time that the row spans. Time is handed in.
"""

from __future__ import annotations

from math import floor, inf


class _Sample:
    __slots__ = ("count", "last_ms", "start_ms", "total")

    def __init__(self, now_ms: int) -> None:
        self.reset(now_ms)

    def reset(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.total = 0.0
        self.count = 0


class _Samples:
    """A ring; what is older than all samples together counts no more."""

    __slots__ = ("_current", "_ring", "count", "window_ms")

    def __init__(self, *, count: int, window_ms: int) -> None:
        self.count = count
        self.window_ms = window_ms
        self._ring: list[_Sample] = []
        self._current = 0

    def add(self, value: float, now_ms: int) -> None:
        sample = self._ring[self._current] if self._ring else self._append(now_ms)
        if now_ms - sample.start_ms >= self.window_ms:
            sample = self._advance(now_ms)
        sample.total += value
        sample.count += 1
        sample.last_ms = now_ms

    def _advance(self, now_ms: int) -> _Sample:
        # One more than is asked for: the oldest may overlap the time that is looked at.
        self._current = (self._current + 1) % (self.count + 1)
        if self._current >= len(self._ring):
            return self._append(now_ms)
        sample = self._ring[self._current]
        sample.reset(now_ms)
        return sample

    def _append(self, now_ms: int) -> _Sample:
        sample = _Sample(now_ms)
        self._ring.append(sample)
        return sample

    def live(self, now_ms: int) -> list[_Sample]:
        """At least one: with nothing in it, if nothing happened for long."""
        for sample in self._ring:
            if now_ms - sample.last_ms >= self.count * self.window_ms:
                sample.reset(now_ms)
        return self._ring or [self._append(now_ms)]


class SampledRate:
    """So much a second."""

    __slots__ = ("_samples",)

    def __init__(self, *, samples: int, window_ms: int) -> None:
        self._samples = _Samples(count=samples, window_ms=window_ms)

    def record(self, value: float, now_ms: int) -> None:
        self._samples.add(value, now_ms)

    def measure(self, now_ms: int) -> float:
        total = sum(sample.total for sample in self._samples.live(now_ms))
        return total / (self.span_ms(now_ms) / 1000)

    def span_ms(self, now_ms: int) -> int:
        """The time that the samples stand for: at first as if all but one had passed already.

        Else the first second of a client would look like a second of eternal haste.
        """
        samples = self._samples
        elapsed_ms = now_ms - min(sample.start_ms for sample in samples.live(now_ms))
        missing = samples.count - 1 - elapsed_ms // samples.window_ms
        return max(elapsed_ms + max(missing, 0) * samples.window_ms, 1)

    def excess_ms(self, bound: float, now_ms: int) -> int:
        """How long nothing may happen until the rate is the bound again; 0 while it is not above.

        Where the bound is 0 that is never. Kafka's number overflows then, and it throttles nobody;
        here it is as long as all samples are remembered.
        """
        rate = self.measure(now_ms)
        if rate <= bound:
            return 0
        if bound <= 0:
            return self._samples.count * self._samples.window_ms
        return min(round_half_up((rate - bound) / bound * self.span_ms(now_ms)), LONGEST_MS)


class SampledAverage:
    """Of what was recorded lately; 0 if nothing was."""

    __slots__ = ("_samples",)

    def __init__(self, *, samples: int, window_ms: int) -> None:
        self._samples = _Samples(count=samples, window_ms=window_ms)

    def record(self, value: float, now_ms: int) -> None:
        self._samples.add(value, now_ms)

    def measure(self, now_ms: int) -> float:
        live = self._samples.live(now_ms)
        count = sum(sample.count for sample in live)
        return sum(sample.total for sample in live) / count if count else 0.0


class TokenBucket:
    """KIP-599: fills at the bound, up to what it gives in all samples; may be overdrawn."""

    __slots__ = ("_seconds", "_tokens", "_updated_ms")

    def __init__(self, *, samples: int, window_ms: int) -> None:
        self._seconds = samples * window_ms / 1000
        self._tokens = inf  # full, whatever the bound is when it is first asked
        self._updated_ms = 0

    def measure(self, bound: float, now_ms: int) -> float:
        burst = self._seconds * bound
        refill = bound * (now_ms - self._updated_ms) / 1000
        self._tokens = min(burst, self._tokens + refill)
        self._updated_ms = now_ms
        return self._tokens

    def take(self, count: float, bound: float, now_ms: int) -> None:
        self._tokens = min(self._seconds * bound, self.measure(bound, now_ms) - count)

    def excess_ms(self, bound: float, now_ms: int) -> int:
        """How long until it is not overdrawn any more."""
        tokens = self.measure(bound, now_ms)
        if tokens >= 0:
            return 0
        if bound <= 0:
            return int(self._seconds * 1000)
        return min(round_half_up(-tokens / bound * 1000), LONGEST_MS)


LONGEST_MS = 0x7FFF_FFFF  # what an answer can say


def round_half_up(number: float) -> int:
    """As Java does; Python rounds halves to even numbers."""
    return floor(number + 0.5)
