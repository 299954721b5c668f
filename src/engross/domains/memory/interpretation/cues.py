"""Which type a text has, by the signs in it: a point for each, two at least; the most win, or else the earlier type."""

from __future__ import annotations

from .rules import Signs, signs

LEAST_SCORE = 2


def type_by_cues(text: str, filename: str = "") -> str | None:
    """The type that a text shows the most signs of; None if it shows too few of any."""
    scores = {kind: _score(known, text, filename) for kind, known in signs().items()}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] >= LEAST_SCORE else None


def _score(known: Signs, text: str, filename: str) -> int:
    seen = sum(1 for cue in known.cues if cue.search(text))
    return seen + (1 if known.filename is not None and known.filename.search(filename) else 0)
