"""What one might do next. Computed when the outcome is certain, on what is committed by then."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from .metamodel import metamodel
from .notices import SIMILAR, USE_TEMPLATE

Answer = Mapping[str, Any]


def after_element(answer: Answer) -> list[str]:
    """Look for doubles, say more, relate it."""
    element = answer.get("element") or answer["capability"]
    told = _doubles(answer)
    if not element["description"]:
        told.append("Add a description with updateElement.")
    if "relationship" not in answer:
        told.append(_how_to_relate(element["type"]))
    told += _about_pace(answer)
    return told or [f"Look around it with getNeighborhood of {element['id']}."]


def after_relationship(answer: Answer) -> list[str]:
    """See what it led to."""
    relationship = answer["relationship"]
    return [f"See both ends in context: getNeighborhood of {relationship['source_id']}.", *_about_pace(answer)]


def after_update(answer: Answer) -> list[str]:
    """What the change may have touched."""
    element = answer["element"]
    if not answer["changed"]:
        return ["Nothing differed from what was there; no version was made."]
    return [f"Check what depends on it: getNeighborhood of {element['id']}."]


def after_deletion(answer: Answer) -> list[str]:
    """What the deletion left behind."""
    itself = answer.get("deleted_relationship", {}).get("id")
    gone = len([one for one in answer["deleted_relationships"] if one != itself])
    went = [f"{gone} relationship{'s' if gone > 1 else ''} went with it."] if gone else []
    return [*went, "Look for elements without any relationship with listElements and getNeighborhood."]


def after_structure(answer: Answer) -> list[str]:
    """Look for doubles; how a structure is filled."""
    if "component" in answer:
        return [*_doubles(answer), "Say which DataObject the component accesses: createRelationship with type Access."]
    capability = answer["capability"]
    told = [
        *_doubles(answer),
        f"Add a component that realizes it: addComponentToCapability with capability_id {capability['id']}.",
    ]
    if "profile" not in capability:
        told.append("Say owner, criticality and lifecycle: updateElement with profile.")
    return told


def after_changes(answer: Answer) -> list[str]:
    """What to do about items that failed."""
    failed = [one["index"] for one in answer["results"] if one["status"] in ("failed", "not_attempted")]
    if failed:
        return [f"Mend and repeat the operations {', '.join(map(str, failed))}."]
    return ["See the result with getView or getNeighborhood."]


def after_model(answer: Answer) -> list[str]:
    """Work in it."""
    return [f"Work in it by default: setContext with model_id {answer['model']['id']}."]


def after_context(answer: Answer) -> list[str]:
    """What that means for the calls to come."""
    if answer["context"]["model_id"] is None:
        return ["Name a model_id in every call from now on, or pin one again."]
    return ["Calls without model_id are about this model now."]


def after_import(answer: Answer) -> list[str]:
    """Look at what came in."""
    if answer.get("dry_run"):
        return ["Look at invalid_relationships and problems, then call again with mode commit."]
    return [f"See what came in: listElements with model_id {answer['model']['id']}."]


def _doubles(answer: Answer) -> list[str]:
    found = [one["similar_element"]["name"] for one in answer["warnings"] if one["code"] == SIMILAR]
    return [f"Similar element '{name}' exists - consider if this is a duplicate" for name in found]


def _about_pace(answer: Answer) -> list[str]:
    return [f"{USE_TEMPLATE}: {one['suggestion']}" for one in answer["warnings"] if one["code"] == USE_TEMPLATE]


@cache
def _how_to_relate(element_type: str) -> str:
    for kind in metamodel().relationship_types:
        targets = [one for one in metamodel().targets_for(kind, element_type) if one != element_type]
        if targets and kind not in ("Composition", "Aggregation", "Association"):
            return f"Relate it with createRelationship, for instance by {kind} with a target of type {targets[0]}."
    return "Relate it with createRelationship."
