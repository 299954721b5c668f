"""Writing elements: each write looks at everything first, tells all that is wrong, and only then states facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engross.calls import Answer
from engross.ledger import Unit
from engross.replies import Issue, codes

from .checks import model_for, name_for, outdated
from .elements import find_element, no_such_element, of_another_model, require_element, whole_element
from .metamodel import metamodel
from .notices import Notices, isolated
from .pace import pace_notices
from .patch import changed, patched, spread, value_of
from .refusals import immutable, no_possible_parent, no_such_element_type, profile_issues, raise_all
from .relationships import all_tied_to, left_alone
from .remarks import likenesses, remarks
from .rows import citation, element_of
from .stating import NOTHING_TOLD, Arguments, Told, add_element, add_relationship, end_relationship
from .ways import Habits

FIELDS = ("name", "description", "properties", "profile")
IMMUTABLE = ("type", "model_id")


class New(NamedTuple):
    """A new element as it is meant: its place in a model, and what is to be said about that."""

    kind: str | None
    model_id: str | None
    parent: Mapping[str, Any] | None
    warnings: Notices
    issues: list[Issue]


class Change(NamedTuple):
    """An element before and after a change, and what is to be said about that."""

    element: Mapping[str, Any] | None
    changes: dict[str, Any]
    after: dict[str, Any]
    warnings: Notices
    issues: list[Issue]


class Created(NamedTuple):
    """A new element; the relationship to its parent, if it has one; and which others are called much like it."""

    element: dict[str, Any]
    more: dict[str, Any]
    similar: Notices


def create_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """An element, and where a parent is named, the composition that holds it."""
    new = _meant_element(unit, arguments, habits)
    element, more, similar = _created(unit, arguments, new)
    warnings = [*new.warnings, *_alone(element, more), *remarks(element), *similar, *pace_notices(unit)]
    return _answer("element", element, more, warnings)


def element_issues(unit: Unit, arguments: Arguments, habits: Habits) -> list[Issue]:
    """What speaks against creating an element, as far as it was told what it is to be."""
    return _meant_element(unit, arguments, habits).issues


def create_capability(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """A capability with its whole profile."""
    new = _meant_capability(unit, arguments, habits)
    element, more, similar = _created(unit, arguments, new)
    shown = {**element, "revision": element["version"]}
    return _answer("capability", shown, more, [*new.warnings, *_alone(element, more), *remarks(element), *similar])


def capability_issues(unit: Unit, arguments: Arguments, habits: Habits) -> list[Issue]:
    """What speaks against creating a capability, as far as it was told what it is to be."""
    return _meant_capability(unit, arguments, habits).issues


def update_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """What is named changes; what is absent stays."""
    change = _meant_change(unit, arguments, habits, NOTHING_TOLD)
    raise_all(change.issues)
    element, changes, after = change.element, change.changes, change.after
    assert element is not None
    if changes:
        before = {field: value_of(element, field) for field in changes}
        unit.append("ElementUpdated", element["id"], element["version"], changes, before=before, fields=changes)
        after["version"] = element["version"] + 1
    return _answer("element", element_of(after), _versions(element, after), change.warnings)


def update_issues(unit: Unit, arguments: Arguments, habits: Habits, told: Told) -> list[Issue]:
    """What speaks against changing an element, as far as it was told what is to change."""
    return _meant_change(unit, arguments, habits, told).issues


def delete_element(unit: Unit, arguments: Arguments, habits: Habits) -> Answer:
    """An element goes, and its relationships with it; no other element does."""
    raise_all(deletion_issues(unit, arguments))
    element = require_element(unit, arguments["id"])
    tied = all_tied_to(unit, element["id"])
    for relationship in tied:
        end_relationship(unit, relationship)
    unit.append("ElementDeleted", element["id"], element["version"], {}, before=element, ends=True)
    data = {
        "deleted_element": element,
        "deleted_relationships": sorted(one["id"] for one in tied),
        "citation": citation(element),
    }
    return Answer(data, warnings=tuple(isolated(one) for one in left_alone(unit, tied)))


def deletion_issues(unit: Unit, arguments: Arguments) -> list[Issue]:
    """What speaks against deleting an element."""
    if "id" not in arguments:
        return []
    element = find_element(unit, arguments["id"])
    if element is None:
        return [no_such_element(unit, arguments["id"], "id")]
    issues = outdated(unit, element, arguments.get("expected_version"), FIELDS)
    tied = [] if arguments.get("cascade", True) else all_tied_to(unit, element["id"])
    return [*issues, *([_still_in_use(element, [one["id"] for one in tied])] if tied else [])]


def _meant_element(unit: Unit, arguments: Arguments, habits: Habits) -> New:
    issues: list[Issue] = []
    word = arguments.get("type")
    meant = metamodel().element_type(word)
    if meant is None and word is not None:
        issues.append(no_such_element_type(word))
    kind = meant.type if meant else None
    return _new(unit, arguments, habits, kind, issues, whole_profile="profile" in arguments)


def _meant_capability(unit: Unit, arguments: Arguments, habits: Habits) -> New:
    return _new(unit, arguments, habits, "Capability", [], whole_profile=True)


def _new(
    unit: Unit, arguments: Arguments, habits: Habits, kind: str | None, issues: list[Issue], *, whole_profile: bool
) -> New:
    model_id = _model(unit, arguments, issues)
    parent = _parent(unit, arguments, kind, model_id, issues)
    warnings = name_for(unit, habits, model_id, kind, arguments.get("name"), issues)
    issues += profile_issues(kind, arguments.get("profile"), whole=whole_profile)
    return New(kind, model_id, parent, warnings, issues)


def _meant_change(unit: Unit, arguments: Arguments, habits: Habits, told: Told) -> Change:
    hint = "Delete the element and create another one, or build it with a template."
    issues = [immutable(name, hint) for name in IMMUTABLE if name in arguments]
    element = whole_element(unit, arguments["id"]) if "id" in arguments else None
    if element is None:
        issues += [no_such_element(unit, arguments["id"], "id")] if "id" in arguments else []
        return Change(None, {}, {}, [], issues)
    wanted = spread(_wanted(arguments))
    if not wanted and not issues and told.isdisjoint(FIELDS):
        issues.append(_nothing_to_change(element))
    issues += outdated(unit, element, arguments.get("expected_version"), wanted)
    changes = changed(element, wanted)
    warnings: Notices = []
    if "name" in changes:
        named = (element["model_id"], element["type"], changes["name"])
        warnings = name_for(unit, habits, *named, issues, unless=element["id"])
    after = patched(element, changes)
    if "profile" in arguments:
        issues += profile_issues(element["type"], after["profile"])
    return Change(element, changes, after, warnings, issues)


def _wanted(arguments: Arguments) -> dict[str, Any]:
    """What is to change. A description of nothing is none, as it is for a new element."""
    wanted = {name: arguments[name] for name in FIELDS if name in arguments}
    return {**wanted, "description": wanted["description"] or None} if "description" in wanted else wanted


def _created(unit: Unit, arguments: Arguments, new: New) -> Created:
    raise_all(new.issues)
    assert new.kind is not None
    assert new.model_id is not None
    similar = likenesses(unit, new.model_id, arguments["name"])
    element = add_element(unit, new.model_id, new.kind, **_given(arguments))
    if new.parent is None:
        return Created(element, {}, similar)
    held = add_relationship(unit, new.model_id, "Composition", new.parent["id"], element["id"])
    return Created(element, {"relationship": held}, similar)


def _alone(element: Mapping[str, Any], more: Mapping[str, Any]) -> Notices:
    return [] if "relationship" in more else [isolated(element)]


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
    if parent is None:
        issues.append(no_such_element(unit, parent_id, "parent_id", model_id))
        return None
    if model_id is not None and parent["model_id"] != model_id:
        issues.append(of_another_model(parent_id, "parent_id", "A parent holds elements of its own model only."))
        return None
    if kind is not None and not metamodel().allows("Composition", parent["type"], kind):
        issues.append(no_possible_parent(parent["type"], kind))
    return parent


def _nothing_to_change(element: Mapping[str, Any]) -> Issue:
    current = {name: element.get(name) for name in FIELDS if element.get(name)}
    return Issue(codes.NO_CHANGES, suggestions={"allowed_fields": list(FIELDS), "current": current})


def _still_in_use(element: Mapping[str, Any], tied: list[str]) -> Issue:
    return Issue(
        codes.ELEMENT_HAS_RELATIONSHIPS,
        {"id": element["id"], "count": len(tied)},
        "/cascade",
        suggestions={"relationship_ids": tied[:100], "hint": "Delete them first, or leave cascade on."},
    )
