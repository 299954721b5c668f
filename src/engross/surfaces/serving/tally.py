"""Counts of calls, as plain numbers.

Prometheus' own counters take a lock for every number and look at the buckets of a histogram one after the other, which
costs a call more than it costs to make its answer. These are counted on the event loop's own thread alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from time import time

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BOUNDS = (*map(str, SECONDS), "+Inf")


class Durations:
    """How long the calls of one flow took."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * len(BOUNDS)
        self.seconds = 0.0


class Tally:
    """Calls that ended: how many by flow, surface, type and code, and how long they took by flow and surface."""

    def __init__(self) -> None:
        self._since = time()
        self._calls: dict[tuple[str, str, str, str], int] = {}
        self._durations: dict[tuple[str, str], Durations] = {}

    def count(self, flow: str, surface: str, kind: str, code: str, milliseconds: float | None) -> None:
        """One more call."""
        key = (flow, surface, kind, code)
        self._calls[key] = self._calls.get(key, 0) + 1
        if milliseconds is not None:
            durations = self._durations.get((flow, surface))
            if durations is None:
                durations = self._durations[flow, surface] = Durations()
            seconds = milliseconds / 1000
            durations.counts[bisect_left(SECONDS, seconds)] += 1
            durations.seconds += seconds

    def collect(self) -> Iterable[Metric]:
        """What Prometheus is told."""
        calls = CounterMetricFamily("engross_calls", "Calls that ended.", labels=("flow", "surface", "type", "code"))
        for labels, number in self._calls.items():
            calls.add_metric(labels, number, created=self._since)
        took = HistogramMetricFamily("engross_call_seconds", "How long calls took.", labels=("flow", "surface"))
        for names, durations in self._durations.items():
            buckets = list(zip(BOUNDS, map(float, accumulate(durations.counts)), strict=True))
            took.add_metric(names, buckets, durations.seconds)
        yield from (calls, took)
