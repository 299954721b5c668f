"""Junctions in a file: what comes together there, also through several of them in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..metamodel import metamodel
from ..rules import MEMBERSHIP
from .parcel import Piece


def at_odds_at_junctions(relationships: Sequence[Piece], kinds: Mapping[str, str]) -> list[Piece]:
    """Relationships that meet others of another type at a junction, or join through it what they may not."""
    joined: dict[str, list[Piece]] = {}
    for piece in relationships:
        if piece.said["type"] in MEMBERSHIP:
            continue
        for end in ("source_id", "target_id"):
            if metamodel().is_junction(kinds[piece.said[end]]):
                joined.setdefault(piece.said[end], []).append(piece)
    wrong: dict[str, Piece] = {}
    for chain in _chains(joined, kinds):
        for piece in _at_odds(chain, [one for junction in chain for one in joined[junction]], kinds):
            wrong[piece.id] = piece
    return list(wrong.values())


def _chains(joined: Mapping[str, Sequence[Piece]], kinds: Mapping[str, str]) -> list[list[str]]:
    """The junctions, those together that lead into one another."""
    chains: list[list[str]] = []
    seen: set[str] = set()
    for start in joined:
        if start in seen:
            continue
        chain, pending = [], [start]
        seen.add(start)
        while pending:
            junction = pending.pop()
            chain.append(junction)
            for piece in joined[junction]:
                for end in (piece.said["source_id"], piece.said["target_id"]):
                    if end in joined and end not in seen:
                        seen.add(end)
                        pending.append(end)
        chains.append(chain)
    return chains


def _at_odds(chain: Sequence[str], pieces: Sequence[Piece], kinds: Mapping[str, str]) -> list[Piece]:
    """In one chain, those of another type than most, and those that lead from a junction to what may not be joined."""
    usual = Counter(piece.said["type"] for piece in pieces).most_common(1)[0][0]
    others = [piece for piece in pieces if piece.said["type"] != usual]
    coming = _coming(chain, [piece for piece in pieces if piece.said["type"] == usual], kinds)
    return others + [
        piece
        for piece in pieces
        if piece.said["source_id"] in coming
        and not metamodel().is_junction(kinds[piece.said["target_id"]])
        and any(
            not metamodel().allows(usual, source, kinds[piece.said["target_id"]])
            for source in coming[piece.said["source_id"]]
        )
    ]


def _coming(chain: Sequence[str], pieces: Sequence[Piece], kinds: Mapping[str, str]) -> dict[str, set[str]]:
    """The types that come together at each junction, those from the junctions before it included."""
    coming: dict[str, set[str]] = {junction: set() for junction in chain}
    leads: list[tuple[str, str]] = []
    for piece in pieces:
        source, target = piece.said["source_id"], piece.said["target_id"]
        if target in coming and source in coming:
            leads.append((source, target))
        elif target in coming:
            coming[target].add(kinds[source])
    moved = True
    while moved:
        moved = False
        for source, target in leads:
            if not coming[source] <= coming[target]:
                coming[target] |= coming[source]
                moved = True
    return coming
