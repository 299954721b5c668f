"""Writing elements: each write looks at everything first, tells all that is wrong, and only then states facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Answer
from engross.ledger import Unit
from engross.replies import Invalid, Issue, codes

from .checks import model_for, name_for, outdated
from .elements import find_element, no_such_element, require_element, whole_element
from .metamodel import metamodel
from .notices import Notices, isolated, like_another, profile_missing, undescribed
from .pace import pace_notices
from .patch import changed, patched, spread, value_of
from .refusals import immutable, no_possible_parent, no_such_element_type, profile_issues, raise_all
from .relationships import all_tied_to, left_alone
from .rows import citation, element_of
from .search import plainly_similar, similar
from .stating import Arguments, add_element, add_relationship, end_relationship
from .ways import Habits

FIELDS = ("name", "description", "properties", "profile")
IMMUTABLE = ("type", "model_id")
SIMILAR_SHOWN = 3


def create_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """An element, and where a parent is named, the composition that holds it."""
    issues: list[Issue] = []
    meant = metamodel().element_type(arguments["type"])
    if meant is None:
        issues.append(no_such_element_type(arguments["type"]))
    kind = meant.type if meant else None
    element, more, warnings = _created(unit, arguments, habits, kind, issues, whole_profile="profile" in arguments)
    if not more:
        warnings.append(isolated(element))
    return _answer("element", element, more, [*warnings, *_about(unit, element), *pace_notices(unit)])


def create_capability(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A capability with its whole profile."""
    element, more, warnings = _created(unit, arguments, habits, "Capability", [], whole_profile=True)
    shown = {**element, "revision": element["version"]}
    return _answer("capability", shown, more, [*warnings, *_about(unit, element)])


def update_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """What is named changes; what is absent stays."""
    hint = "Delete the element and create another one, or build it with a template."
    issues = [immutable(name, hint) for name in IMMUTABLE if name in arguments]
    element = whole_element(unit, arguments["id"])
    if element is None:
        issues.append(no_such_element(unit, arguments["id"], "id"))
    wanted = spread({name: arguments[name] for name in FIELDS if name in arguments})
    if not wanted and not issues:
        issues.append(_nothing_to_change(element))
    if element is None:
        raise Invalid.many(issues)
    issues += outdated(unit, element, arguments.get("expected_version"), wanted)
    changes = changed(element, wanted)
    warnings: Notices = []
    if "name" in changes:
        named = (element["model_id"], element["type"], changes["name"])
        warnings = name_for(unit, habits, *named, issues, unless=element["id"])
    after = patched(element, changes)
    if "profile" in arguments:
        issues += profile_issues(element["type"], after["profile"])
    raise_all(issues)
    if changes:
        before = {field: value_of(element, field) for field in changes}
        unit.append("ElementUpdated", element["id"], element["version"], changes, before=before, fields=changes)
        after["version"] = element["version"] + 1
    return _answer("element", element_of(after), _versions(element, after), warnings)


def delete_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """An element goes, and its relationships with it; no other element does."""
    element = require_element(unit, arguments["id"])
    raise_all(outdated(unit, element, arguments.get("expected_version"), FIELDS))
    tied = all_tied_to(unit, element["id"])
    if tied and not arguments.get("cascade", True):
        raise _still_in_use(element, [one["id"] for one in tied])
    for relationship in tied:
        end_relationship(unit, relationship)
    unit.append("ElementDeleted", element["id"], element["version"], {}, before=element, ends=True)
    data = {
        "deleted_element": element,
        "deleted_relationships": sorted(one["id"] for one in tied),
        "citation": citation(element),
    }
    return Answer(data, warnings=tuple(isolated(one) for one in left_alone(unit, tied)))


def _created(
    unit: Unit, arguments: Arguments, habits: Habits, kind: str | None, issues: list[Issue], *, whole_profile: bool
) -> tuple[dict[str, Any], dict[str, Any], Notices]:
    """A new element; the relationship to its parent, if it has one; warnings about its name."""
    model_id = _model(unit, arguments, issues)
    parent = _parent(unit, arguments, kind, model_id, issues)
    warnings = name_for(unit, habits, model_id, kind, arguments["name"], issues)
    if kind:
        issues += profile_issues(kind, arguments.get("profile"), whole=whole_profile)
    raise_all(issues)
    assert kind is not None
    assert model_id is not None
    element = add_element(unit, model_id, kind, **_given(arguments))
    if parent is None:
        return element, {}, warnings
    held = add_relationship(unit, model_id, "Composition", parent["id"], element["id"])
    return element, {"relationship": held}, warnings


def _answer(name: str, element: Mapping[str, Any], more: Mapping[str, Any], warnings: Notices) -> Answer:
    data = {name: element, **more, "version": element["version"], "citation": citation(element)}
    return Answer(data, warnings=tuple(warnings))


def _versions(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    previous, new = before["version"], after["version"]
    return {"changed": previous != new, "previous_version": previous, "new_version": new}


def _given(arguments: Arguments) -> dict[str, Any]:
    properties = {
        key: value for key, value in (arguments.get("properties") or {}).items() if not isinstance(value, Mapping)
    }
    return {
        "name": arguments["name"],
        "description": arguments.get("description"),
        "properties": properties,
        "profile": arguments.get("profile"),
    }


def _model(unit: Unit, arguments: Arguments, issues: list[Issue]) -> str | None:
    """The model that a write is about: named, or its parent's, or the caller's."""
    if "model_id" not in arguments and (parent_id := arguments.get("parent_id")):
        parent = find_element(unit, parent_id)
        if parent is not None:
            return str(parent["model_id"])
    return model_for(unit, arguments.get("model_id"), issues)


def _parent(
    unit: Unit, arguments: Arguments, kind: str | None, model_id: str | None, issues: list[Issue]
) -> dict[str, Any] | None:
    parent_id = arguments.get("parent_id")
    if parent_id is None:
        return None
    parent = find_element(unit, parent_id)
    if parent is None or (model_id is not None and parent["model_id"] != model_id):
        issues.append(no_such_element(unit, parent_id, "parent_id", model_id))
        return None
    if kind is not None and not metamodel().allows("Composition", parent["type"], kind):
        issues.append(no_possible_parent(parent["type"], kind))
    return parent


def _nothing_to_change(element: Mapping[str, Any] | None) -> Issue:
    current = {name: element.get(name) for name in FIELDS if element.get(name)} if element else {}
    return Issue(codes.NO_CHANGES, suggestions={"allowed_fields": list(FIELDS), "current": current})


def _still_in_use(element: Mapping[str, Any], tied: list[str]) -> Invalid:
    return Invalid(
        codes.ELEMENT_HAS_RELATIONSHIPS,
        {"id": element["id"], "count": len(tied)},
        field="cascade",
        suggestions={"relationship_ids": tied[:100], "hint": "Delete them first, or leave cascade on."},
    )


def _about(unit: Unit, element: Mapping[str, Any]) -> Notices:
    """What could be better about a new element."""
    found: Notices = []
    if not element["description"] and not metamodel().is_junction(element["type"]):
        found.append(undescribed())
    if element["type"] in metamodel().profiles and "profile" not in element:
        found.append(profile_missing(element["type"], ", ".join(metamodel().profiles[element["type"]]["required"])))
    # A real write has no time for a thorough look.
    look, most = (similar, SIMILAR_SHOWN) if unit.context.dry_run else (plainly_similar, 1)
    near = look(unit, element["model_id"], element["name"], most=most, unless=element["id"])
    return [*found, *(like_another(one) for one in near)]
