"""What is wrong with a parcel: ids, ends and names; relationships that the metamodel does not know; doubles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engross.replies import Issue, codes

from ..metamodel import RELATIONSHIP, metamodel
from ..names import LONGEST_NAME, folded
from ..notices import notice
from ..refusals import malformed
from ..rules import NOT_TO_ITSELF
from .exchange_xml import NAMELESS
from .junctions import at_odds_at_junctions
from .parcel import Parcel, Piece
from .views_in import dangling

MOST_TOLD = 100


class Findings(NamedTuple):
    """What was found out about a parcel before it is taken over."""

    issues: list[Issue]
    """What hinders it in any case; of very much, the first."""
    problems: int
    """How much that is."""
    illegal: list[dict[str, Any]]
    """Relationships that the metamodel does not allow, by their ids in the file."""
    warnings: list[dict[str, Any]]

    @property
    def illegal_issues(self) -> list[Issue]:
        """The illegal relationships as what refuses the import."""
        return [
            Issue(
                codes.INVALID_RELATIONSHIP,
                {name: one[name] for name in ("type", "source_type", "target_type")},
                "/content",
                {"relationship_id": one["id"]},
                {
                    "valid_relationships": one["valid_relationships"],
                    "hint": "Mend the file, or import without these: on_invalid skip.",
                },
            )
            for one in self.illegal[:MOST_TOLD]
        ]


def check(parcel: Parcel) -> Findings:
    """Look a parcel over."""
    issues = [*parcel.issues, *_id_issues(parcel), *_name_issues(parcel)]
    kinds = {piece.id: piece.said["type"] for piece in parcel.elements}
    kinds |= dict.fromkeys((piece.id for piece in parcel.relationships), RELATIONSHIP)
    issues += [*_end_issues(parcel, kinds), *dangling(parcel)]
    return Findings(issues[:MOST_TOLD], len(issues), illegal(parcel.relationships, kinds), _doubles(parcel))


def illegal(relationships: Sequence[Piece], kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """The relationships that the metamodel does not allow, between things of these kinds."""
    whole = [piece for piece in relationships if piece.said["source_id"] in kinds and piece.said["target_id"] in kinds]
    found = [_told(piece, "INVALID_RELATIONSHIP", kinds) for piece in whole if not _is_known(piece, kinds)]
    known = {one["id"] for one in found}
    at_odds = at_odds_at_junctions([piece for piece in whole if piece.id not in known], kinds)
    return found + [_told(piece, "JUNCTION_CONFLICT", kinds) for piece in at_odds]


def _id_issues(parcel: Parcel) -> list[Issue]:
    counted = Counter(piece.id for piece in (*parcel.elements, *parcel.relationships))
    wrong = [identifier for identifier, count in counted.items() if count > 1 or not identifier]
    return [malformed("/content", f"the id {one[:80]!r} is missing or there twice") for one in wrong[:MOST_TOLD]]


def _name_issues(parcel: Parcel) -> list[Issue]:
    long = [piece for piece in parcel.elements if len(piece.said["name"]) > LONGEST_NAME]
    nameless = [piece for piece in parcel.elements if not piece.said["name"] and piece.said["type"] not in NAMELESS]
    return [malformed("/content", f"the name of {piece.id[:80]} is too long") for piece in long] + [
        malformed("/content", f"{piece.id[:80]} has no name") for piece in nameless
    ]


def _end_issues(parcel: Parcel, kinds: Mapping[str, str]) -> list[Issue]:
    return [
        Issue(codes.ELEMENT_NOT_FOUND, {"id": piece.said[end][:80]}, "/content", {"relationship_id": piece.id})
        for piece in parcel.relationships
        for end in ("source_id", "target_id")
        if piece.said[end] not in kinds
    ]


def _is_known(piece: Piece, kinds: Mapping[str, str]) -> bool:
    kind, source, target = piece.said["type"], piece.said["source_id"], piece.said["target_id"]
    if source == target and kind in NOT_TO_ITSELF:
        return False
    return metamodel().allows(kind, kinds[source], kinds[target])


def _told(piece: Piece, key: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    source, target = kinds[piece.said["source_id"]], kinds[piece.said["target_id"]]
    return {
        "id": piece.id,
        "code": key,
        "type": piece.said["type"],
        "source_type": source,
        "target_type": target,
        "valid_relationships": list(metamodel().allowed(source, target)),
    }


def _doubles(parcel: Parcel) -> list[dict[str, Any]]:
    counted = Counter((piece.said["type"], folded(piece.said["name"])) for piece in parcel.elements)
    doubled = [(kind, name, count) for (kind, name), count in counted.items() if count > 1 and name]
    return [
        notice(
            "DUPLICATE_NAME", f"{count} elements of type {kind} are called {name}.", "content", "Merge or rename them."
        )
        for kind, name, count in doubled[:MOST_TOLD]
    ]
