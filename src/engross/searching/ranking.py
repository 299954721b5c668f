"""Several opinions about what fits best, made into one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

DAMPING = 60
"""The usual constant of reciprocal rank fusion: how little the first places differ."""
CERTAIN = 1.0
"""More than all opinions together: what was named exactly comes before what fits."""


def fused(opinions: Iterable[Mapping[str, float]], certain: Collection[str] = ()) -> dict[str, float]:
    """Scores by reciprocal rank, best first, equal ones by name. What an opinion finds equally fit shares a place."""
    scores = dict.fromkeys(certain, CERTAIN)
    for opinion in opinions:
        places = {fit: place for place, fit in enumerate(sorted(set(opinion.values()), reverse=True), start=1)}
        for name, fit in opinion.items():
            scores[name] = scores.get(name, 0.0) + 1.0 / (DAMPING + places[fit])
    return {name: round(scores[name], 6) for name in sorted(scores, key=lambda name: (-scores[name], name))}
