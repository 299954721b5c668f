"""What is wrong with a parcel: ids, ends and names; relationships that the metamodel does not know."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from engross.replies import Issue, codes

from ..metamodel import RELATIONSHIP, metamodel
from ..names import LONGEST_NAME
from ..refusals import junction_conflict, malformed
from ..rules import NOT_TO_ITSELF
from .exchange_xml import NAMELESS
from .junctions import AtOdds, at_odds_at_junctions
from .parcel import Parcel, Piece
from .standing import Standing
from .views_in import dangling

MOST_TOLD = 100
ENDS = ("source_id", "target_id")
KINDS = ("type", "source_type", "target_type")
OR_WITHOUT = "Mend the file, or import without these: on_invalid skip."
_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What writes refuse in a name, too."""


class Findings(NamedTuple):
    """What was found out about a parcel before it is taken over."""

    issues: list[Issue]
    """What hinders it in any case; of very much, the first."""
    problems: int
    """How much that is."""
    illegal: list[dict[str, Any]]
    """Relationships that the metamodel does not allow, by their ids in the file."""
    pointer: str = "/content"
    """Where a caller finds all that."""

    @property
    def illegal_issues(self) -> list[Issue]:
        """The illegal relationships as what refuses the import."""
        return [self._illegal_issue(one) for one in self.illegal[:MOST_TOLD]]

    def _illegal_issue(self, one: Mapping[str, Any]) -> Issue:
        if one["code"] == "JUNCTION_CONFLICT":
            told = one["junction_id"], one["existing_type"], one.get("offending_pairs", ())
            known = junction_conflict(*told, one["valid_relationships"])
            code, params, more = known.code, known.params, dict(known.suggestions or {})
        else:
            code, params = codes.INVALID_RELATIONSHIP, {name: one[name] for name in KINDS}
            more = {"valid_relationships": one["valid_relationships"]}
        more["hint"] = " ".join(filter(None, (more.get("hint"), OR_WITHOUT)))
        return Issue(code, params, self.pointer, {"relationship_id": one["id"]}, more)


def check(parcel: Parcel) -> Findings:
    """Look a parcel over."""
    issues = [*parcel.issues, *_id_issues(parcel), *_name_issues(parcel)]
    kinds = {piece.id: piece.said["type"] for piece in parcel.elements}
    kinds |= dict.fromkeys((piece.id for piece in parcel.relationships), RELATIONSHIP)
    issues += [*_end_issues(parcel, kinds), *dangling(parcel)]
    return Findings(issues[:MOST_TOLD], len(issues), illegal(parcel.relationships, kinds), parcel.pointer)


def illegal(relationships: Sequence[Piece], kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """The relationships that the metamodel does not allow, between things of these kinds."""
    whole = [piece for piece in relationships if piece.said["source_id"] in kinds and piece.said["target_id"] in kinds]
    ends = {piece.id: (piece.said["source_id"], piece.said["target_id"]) for piece in whole}
    lost = _without_ground(whole, kinds)
    found = [
        _told(piece, "INVALID_RELATIONSHIP", kinds)
        for piece in whole
        if piece.id in lost or not _is_known(piece, kinds) or _is_own_end(piece, ends)
    ]
    known = {one["id"] for one in found}
    at_odds = at_odds_at_junctions([piece for piece in whole if piece.id not in known], kinds)
    return found + [_conflict(one, kinds) for one in at_odds]


def at_odds_with(parcel: Parcel, standing: Standing, but: Collection[str]) -> list[dict[str, Any]]:
    """The relationships that do not go with what the model's junctions join already, `but` those that go nowhere."""
    if not any(metamodel().is_junction(one["type"]) for one in standing.elements.same.values()):
        return []
    here = standing.ids()
    rows = (*standing.elements.same.values(), *standing.elements.others)
    kinds = {here.get(piece.id, piece.id): piece.said["type"] for piece in parcel.elements}
    kinds |= {one["id"]: one["type"] for one in rows}
    kinds |= dict.fromkeys((here.get(piece.id, piece.id) for piece in parcel.relationships), RELATIONSHIP)
    kinds |= dict.fromkeys((one["id"] for one in standing.relationships.others), RELATIONSHIP)
    brought = [
        Piece(piece.id, {**piece.said, **{end: here.get(piece.said[end], piece.said[end]) for end in ENDS}})
        for piece in parcel.relationships
        if piece.id not in but
    ]
    there = [Piece(one["id"], one) for one in standing.relationships.others]
    found = at_odds_at_junctions([*there, *brought], kinds, {piece.id for piece in there})
    return [_conflict(one, kinds) for one in found]


def _id_issues(parcel: Parcel) -> list[Issue]:
    counted = Counter(piece.id for piece in (*parcel.things, *parcel.views))
    wrong = [identifier for identifier, count in counted.items() if count > 1 or not identifier]
    return [malformed(parcel.pointer, f"the id {one[:80]!r} is missing or there twice") for one in wrong[:MOST_TOLD]]


def _name_issues(parcel: Parcel) -> list[Issue]:
    named = [(piece.id[:80], piece.said["name"]) for piece in parcel.things]
    long = [f"the name of {piece.id[:80]} is too long" for piece in parcel.elements if _is_long(piece)]
    nameless = [f"{piece.id[:80]} has no name" for piece in parcel.elements if _is_nameless(piece)]
    strange = [
        f"the name of {one} has control characters"
        for one, name in (*named, ("the model", parcel.name))
        if _UNREADABLE.search(name)
    ]
    return [malformed(parcel.pointer, problem) for problem in (*long, *nameless, *strange)]


def _is_long(piece: Piece) -> bool:
    return len(piece.said["name"]) > LONGEST_NAME


def _is_nameless(piece: Piece) -> bool:
    return not piece.said["name"] and piece.said["type"] not in NAMELESS


def _end_issues(parcel: Parcel, kinds: Mapping[str, str]) -> list[Issue]:
    return [
        Issue(
            codes.ELEMENT_NOT_FOUND,
            {"id": piece.said[end][:80]},
            parcel.pointer,
            {"relationship_id": piece.id},
            {"hint": "The file has no such element, or one that cannot be taken over."},
        )
        for piece in parcel.relationships
        for end in ENDS
        if piece.said[end] not in kinds
    ]


def _is_known(piece: Piece, kinds: Mapping[str, str]) -> bool:
    kind, source, target = piece.said["type"], piece.said["source_id"], piece.said["target_id"]
    if source == target and kind in NOT_TO_ITSELF:
        return False
    return metamodel().allows(kind, kinds[source], kinds[target])


def _is_own_end(piece: Piece, ends: Mapping[str, tuple[str, str]]) -> bool:
    """Is it between a relationship and one of the ends of that?"""
    source, target = ends[piece.id]
    return target in ends.get(source, ()) or source in ends.get(target, ())


def _without_ground(pieces: Sequence[Piece], kinds: Mapping[str, str]) -> set[str]:
    """Relationships between relationships that lead in a circle, and never to elements."""
    waiting: dict[str, set[str]] = {}
    tied: dict[str, list[str]] = {}
    for piece in pieces:
        held = {piece.said[end] for end in ENDS if kinds[piece.said[end]] == RELATIONSHIP}
        if held:
            waiting[piece.id] = held
            for end in held:
                tied.setdefault(end, []).append(piece.id)
    grounded = [end for end in tied if end not in waiting]
    while grounded:
        end = grounded.pop()
        for one in tied.get(end, ()):
            waiting[one].discard(end)
            if not waiting[one]:
                del waiting[one]
                grounded.append(one)
    return set(waiting)


def _told(piece: Piece, key: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    source, target = kinds[piece.said["source_id"]], kinds[piece.said["target_id"]]
    return {
        "id": piece.id,
        "code": key,
        "type": piece.said["type"],
        "source_type": source,
        "target_type": target,
        "valid_relationships": [kind for kind in metamodel().allowed(source, target) if kind != piece.said["type"]],
    }


def _conflict(one: AtOdds, kinds: Mapping[str, str]) -> dict[str, Any]:
    """What could be there instead is what the junction joins, unless that is what it is already."""
    told = _told(one.piece, "JUNCTION_CONFLICT", kinds)
    told["valid_relationships"] = [kind for kind in told["valid_relationships"] if kind == one.existing_type]
    told |= {"junction_id": one.junction, "existing_type": one.existing_type}
    return {**told, "offending_pairs": one.offending_pairs} if one.offending_pairs else told
