"""Notices: what does not hinder a write, but its author may want to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Notices = list[dict[str, Any]]
SIMILAR = "SIMILAR_ELEMENT"
USE_TEMPLATE = "USE_TEMPLATE"


def notice(code: str, message: str, field: str | None, suggestion: str, **more: Any) -> dict[str, Any]:
    """A warning as callers get it."""
    return {"code": code, "message": message, "field": field, "suggestion": suggestion, **more}


def isolated(element: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing is related to the element."""
    return notice(
        "ISOLATED_ELEMENT",
        f"{element['name']} is not related to anything.",
        None,
        "Relate it with createRelationship.",
        element_id=element["id"],
    )


def name_shared(existing: Mapping[str, Any], field: str = "name") -> dict[str, Any]:
    """Another element of the type has the name."""
    return notice(
        "DUPLICATE_NAME",
        f"There is another {existing['type']} with this name.",
        field,
        "Use the existing element, or choose a name that tells them apart.",
        existing_element={key: existing[key] for key in ("id", "type", "name")},
    )


def undescribed(field: str = "description") -> dict[str, Any]:
    """Nobody will know what the element is."""
    return notice(
        "MISSING_DESCRIPTION",
        "Element has no description.",
        field,
        "Add a description for better discoverability.",
    )


def profile_missing(element_type: str, needed: str) -> dict[str, Any]:
    """The type has a profile, and this element has none."""
    return notice("PROFILE_MISSING", f"The {element_type} has no profile.", "profile", f"Say its {needed}.")


def in_single_steps(count: int) -> dict[str, Any]:
    """Whoever makes so many writes in a row could have made one."""
    return notice(
        USE_TEMPLATE,
        f"{count} single writes within a minute.",
        None,
        "applyChanges makes up to 100 changes at once; createCapabilityStructure and addComponentToCapability build"
        " whole structures.",
    )


def like_another(other: Mapping[str, Any], field: str = "name") -> dict[str, Any]:
    """Another element has a name that is much like this one's."""
    return notice(
        SIMILAR,
        f"Similar element '{other['name']}' exists.",
        field,
        "Consider if this is a duplicate.",
        similar_element=dict(other),
    )
