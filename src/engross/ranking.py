"""Several opinions about what fits best, made into one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple, Protocol

DAMPING = 60
"""The usual constant of reciprocal rank fusion: how little the first places differ."""


def fused(opinions: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Scores by reciprocal rank, best first, equal ones by name. What an opinion finds equally fit shares a place."""
    scores: dict[str, float] = {}
    for opinion in opinions:
        places = {fit: place for place, fit in enumerate(sorted(set(opinion.values()), reverse=True), start=1)}
        for name, fit in opinion.items():
            scores[name] = scores.get(name, 0.0) + 1.0 / (DAMPING + places[fit])
    return {name: round(scores[name], 6) for name in sorted(scores, key=lambda name: (-scores[name], name))}


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """How much two vectors point the same way."""
    lengths = sqrt(sum(x * x for x in first)) * sqrt(sum(y * y for y in second))
    return sum(x * y for x, y in zip(first, second, strict=True)) / lengths if lengths else 0.0


class Embedder(Protocol):
    """Turns texts into vectors. Another model gives other vectors, so each says which it is."""

    name: str

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """One vector for each text; None while it is away."""


class Ranked(NamedTuple):
    """The names of what fits, best first, with their scores, and by what they were found."""

    best: list[tuple[str, float]]
    mode: str


def ranked(
    query: str,
    texts: Mapping[str, str],
    opinions: Sequence[Mapping[str, float]],
    embedder: Embedder | None,
    *,
    most: int,
) -> Ranked:
    """What words and likeness say of each text, and what it means where there is an embedder, made into one."""
    mode = "words+names"
    if embedder is not None:
        vectors = embedder([query, *texts.values()])
        opinions = [*opinions, _nearness(texts, vectors)] if vectors else opinions
        mode += f"+embeddings:{embedder.name}" if vectors else f", without {embedder.name}, which is away"
    return Ranked(list(fused(opinions).items())[:most], mode)


def _nearness(texts: Mapping[str, str], vectors: Sequence[Sequence[float]]) -> dict[str, float]:
    asked, *others = vectors
    return {name: cosine(asked, vector) for name, vector in zip(texts, others, strict=True)}
