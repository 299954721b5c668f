"""What a write is refused with, and what would help instead. It follows from the metamodel or the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.ledger import Reader
from engross.replies import Invalid, Issue, codes

from .elements import free_names
from .metamodel import metamodel
from .rows import brief


def malformed(pointer: str, problem: str, hint: str | None = None) -> Issue:
    """Something that only the domain can see is wrong with the shape of a call."""
    # The same fault found by a schema has the same code: a caller need not know who looked.
    code = codes.VALIDATION_ERROR  # reply-lint: L7 because a schema cannot say it, and the fault is one of shape
    return Issue(code, {"problem": problem}, pointer, suggestions={"hint": hint} if hint else None)


def immutable(field: str, hint: str) -> Issue:
    """A field that cannot be changed."""
    code = codes.FIELD_NOT_ALLOWED  # reply-lint: L7 because the field is known, and refused for a reason of the domain
    return Issue(code, {"field": field}, f"/{field}", suggestions={"hint": hint})


def too_many(pointer: str, what: str, limit: int, actual: int) -> Issue:
    """More than one call may hold."""
    code = codes.LIMIT_EXCEEDED  # reply-lint: L7 because the limit is a knob, which no schema knows
    return Issue(code, {"what": what, "limit": limit}, pointer, {"limit": limit, "actual": actual})


def no_such_element_type(word: object, field: str = "type") -> Issue:
    """The word is no element type; with those that were perhaps meant, and their layer."""
    close = metamodel().close_element_types(word)
    suggestions: dict[str, Any] = {"did_you_mean": close}
    layer = metamodel().layer(close[0]) if close else None
    if layer:
        suggestions |= {
            "valid_types_for_context": list(metamodel().types_in(layer)),
            "hint": metamodel().layer_hint(layer),
        }
    else:
        suggestions |= {
            "valid_types_for_context": list(metamodel().creatable_types),
            "hint": "getElementTypes describes every type.",
        }
    return Issue(codes.INVALID_ELEMENT_TYPE, {"type": _shown(word)}, f"/{field}", suggestions=suggestions)


def no_such_relationship_type(word: object, field: str = "type") -> Issue:
    """The word is no relationship type."""
    suggestions = {
        "did_you_mean": metamodel().close_relationship_types(word),
        "valid_types": list(metamodel().relationship_types),
    }
    return Issue(codes.INVALID_RELATIONSHIP_TYPE, {"type": _shown(word)}, f"/{field}", suggestions=suggestions)


def not_allowed(
    kind: str,
    source_type: str,
    target_type: str,
    valid: Sequence[str],
    reverse: Sequence[str],
    hint: str | None = None,
) -> Issue:
    """The relationship may not lead from the one to the other; with what could, in both directions."""
    if hint is None and kind in reverse:
        hint = f"{kind} may lead from {target_type} to {source_type}: swap source and target."
    return Issue(
        codes.INVALID_RELATIONSHIP,
        {"type": kind, "source_type": source_type, "target_type": target_type},
        "/type",
        suggestions={
            "valid_relationships": list(valid),
            "reverse": list(reverse),
            "hint": hint or metamodel().relationship_hint(kind),
        },
    )


def no_possible_parent(parent_type: str, child_type: str) -> Issue:
    """The parent cannot be composed of such a child."""
    holders = metamodel().sources_for("Composition", child_type)
    return Issue(
        codes.INVALID_PARENT,
        {"parent_type": parent_type, "child_type": child_type},
        "/parent_id",
        suggestions={
            "valid_relationships": list(metamodel().allowed(parent_type, child_type)),
            "valid_parent_types": holders,
            "hint": "Leave parent_id out and create one of valid_relationships instead.",
        },
    )


def name_taken(reader: Reader, existing: Mapping[str, Any], name: str, field: str = "name") -> Issue:
    """Another element of the type has the name; with names that are really free."""
    return Issue(
        codes.DUPLICATE_NAME,
        {"kind": existing["type"]},
        f"/{field}",
        suggestions={
            "existing_element": brief(existing),
            "alternatives": free_names(reader, existing["model_id"], existing["type"], name),
            "hint": "Use updateElement to modify the existing element, or choose a different name.",
        },
    )


def already_related(existing: Mapping[str, Any]) -> Issue:
    """There is such a relationship already."""
    return Issue(
        codes.DUPLICATE_RELATIONSHIP,
        {"type": existing["type"]},
        "/type",
        suggestions={
            "existing_relationship": {"id": existing["id"], "type": existing["type"]},
            "hint": "The two are related like this already; nothing needs to be done.",
        },
    )


def junction_conflict(junction: str, existing: str, pairs: Sequence[Mapping[str, str]], valid: Sequence[str]) -> Issue:
    """A junction joins relationships of one type, between ends that this type may join directly."""
    hint = f"Use {' or '.join(valid)}, or make another junction." if valid else "Make another junction."
    if pairs:
        hint = f"Through the junction, {existing} would join types that it may not join. {hint}"
    suggestions: dict[str, Any] = {"existing_type": existing, "valid_relationships": list(valid), "hint": hint}
    if pairs:
        suggestions["offending_pairs"] = list(pairs)
    return Issue(codes.JUNCTION_CONFLICT, {"id": junction, "existing_type": existing}, "/type", suggestions=suggestions)


def profile_issues(element_type: str | None, profile: Mapping[str, Any] | None, *, whole: bool = True) -> list[Issue]:
    """What is wrong with a profile: keys that are missing or strange, values that it does not allow.

    Of a type that nobody knows, what no profile at all would take.
    """
    given = profile or {}
    if element_type is None:
        known = {key: field for rules in metamodel().profiles.values() for key, field in rules["fields"].items()}
        return _unfit_entries(given, known)
    rules = metamodel().profiles.get(element_type)
    if profile is None and not whole:
        return []
    if rules is None:
        return (
            [_unfit("profile", f"{element_type} has no profile", {"hint": "Use properties instead."})] if given else []
        )
    missing = [key for key in rules["required"] if not given.get(key)] if whole else []
    issues = [_unfit(f"profile/{key}", f"{key} is missing", {"missing_keys": missing}) for key in missing]
    return issues + _unfit_entries(given, rules["fields"])


def _unfit_entries(given: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> list[Issue]:
    issues = []
    for key, value in given.items():
        if key not in known:
            place = "profile/" + key.replace("~", "~0").replace("/", "~1")
            issues.append(_unfit(place, f"{key} is not part of it", {"allowed_keys": list(known)}))
        elif value and "enum" in known[key] and value not in known[key]["enum"]:
            issues.append(_unfit(f"profile/{key}", f"{key} has another value", {"allowed_values": known[key]["enum"]}))
    return issues


def raise_all(issues: Sequence[Issue]) -> None:
    """Refuse, with everything that is wrong, if anything is."""
    if issues:
        raise Invalid.many(issues)


def _unfit(pointer: str, problem: str, suggestions: Mapping[str, Any]) -> Issue:
    return Issue(codes.PROFILE_INVALID, {"problem": problem[:200]}, f"/{pointer}", suggestions=suggestions)


def _shown(word: object) -> str:
    return str(word)[:80]
