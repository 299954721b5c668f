"""Medians over interleaved rounds, so that whatever else the machine does touches all contestants alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median

Contestant = Callable[[], float]


def interleaved(contestants: Mapping[str, Contestant], *, rounds: int) -> dict[str, float]:
    """Each contestant's median figure; a first round to warm up does not count."""
    figures: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, contestant in contestants.items():
            figure = contestant()
            if number:
                figures[name].append(figure)
    return {name: median(values) for name, values in figures.items()}
